/**
 * Node's HTTP module. An import of it would read all its members, one of which loads Node's fetch
 * client: 16 MB and a tenth of the start, for a server that fetches nothing.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
