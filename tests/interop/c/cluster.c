/* Does with hiredis what people do with a cluster: it knows no slots, so it
 * follows one redirection by hand. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	redisContext *c = redisConnect("127.0.0.1", atoi(argv[argc - 1]));
	redisReply *r = redisCommand(c, "SET foo bar"); /* slot 12182, the third node's */
	if (r == NULL || r->type != REDIS_REPLY_ERROR || strncmp(r->str, "MOVED 12182 127.0.0.1:", 22) != 0) return 1;
	redisContext *owner = redisConnect("127.0.0.1", atoi(r->str + 22));
	r = redisCommand(owner, "SET foo bar");
	if (r == NULL || r->type != REDIS_REPLY_STATUS) return 2;
	r = redisCommand(owner, "GET foo");
	if (r == NULL || r->type != REDIS_REPLY_STRING || strcmp(r->str, "bar") != 0) return 3;
	puts("hiredis is content");
	return 0;
}
