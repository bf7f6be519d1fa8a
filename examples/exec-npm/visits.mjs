// Counts the visitors of pages. All keys of a page share a hash tag, so that
// one transaction may use them on a cluster.
export async function visit(redis, page, visitor) {
  const replies = await redis
    .multi()
    .incr(`visits:{${page}}:total`)
    .sadd(`visits:{${page}}:visitors`, visitor)
    .scard(`visits:{${page}}:visitors`)
    .exec();
  const [total, , visitors] = replies.map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  return { total, visitors };
}
