import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster } from 'ioredis';
import { visit } from './visits.mjs';

const nodes = process.env.REDIS_CLUSTER_NODES;
assert.ok(nodes, 'no cluster: run "fakecluster exec -- npm test"');
// On a busy machine the default of 1000 ms is short for finding the nodes.
const redis = new Cluster(nodes.split(','), { slotsRefreshTimeout: 10000 });
after(() => redis.disconnect());

test('a page counts its visits and its visitors', async () => {
  assert.deepEqual(await visit(redis, 'home', 'ada'), { total: 1, visitors: 1 });
  assert.deepEqual(await visit(redis, 'home', 'ada'), { total: 2, visitors: 1 });
  assert.deepEqual(await visit(redis, 'home', 'bob'), { total: 3, visitors: 2 });
});

test('pages live on all nodes', async () => {
  for (let i = 0; i < 100; i++) await visit(redis, `page${i}`, 'ada');
  const sizes = await Promise.all(redis.nodes('master').map((node) => node.dbsize()));
  assert.equal(sizes.length, 3);
  assert.ok(sizes.every((size) => size > 0), `a master is empty: ${sizes}`);
});
