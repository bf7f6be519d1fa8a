package command

// families are the handlers of the data commands, one map per file, by command
// name; subcommands are "object|encoding". The server adds those that concern
// clients and the node itself when it builds a Table.
var families = []map[string]Handler{
	commandFamily,
	stringCommands,
	genericCommands,
	expireCommands,
	scanCommands,
	objectCommands,
	dumpCommands,
	sortCommands,
	bitmapCommands,
	hyperloglogCommands,
	listCommands,
	hashCommands,
	hashExpireCommands,
	setCommands,
	streamCommands,
	zsetCommands,
	geoCommands,
}
