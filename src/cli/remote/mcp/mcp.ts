/**
 * `agent-home mcp`: connects clients that start programs to a home's `/mcp`. Messages are forwarded
 * unchanged, so both ways offer the same tools; only a context says, too, whether the history is the
 * one that this computer remembers, and a home that is away is answered for. Standard output carries
 * only the protocol.
 */
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import { loadClientConfig } from '../../../environment.ts'
import { CALL_TOOL, runOfClient } from '../../../mcp/message.ts'
import { isWellFormedToken } from '../../../pipeline/tokens.ts'
import { processTimers, type Timers } from '../../../timers.ts'
import type { Given, Run } from '../../command.ts'
import { usage } from '../../failure.ts'
import { type Connection, connectionOf, homeAt } from '../at-home.ts'
import { checkHistory } from './history.ts'
import { homeFetch } from './home.ts'
import { createRunning } from './running.ts'

interface Ends {
  /** The client's transport. */
  readonly here: Transport
  /** The home's transport. */
  readonly there: StreamableHTTPClientTransport
  /** Prints a message for people. */
  readonly say: (sentence: string) => void
  /** Takes the client's name, of the handshake of 2025. */
  readonly named: (client: string) => void
  /** What a context says of the history. */
  readonly history: () => Promise<string | undefined>
}

interface Bridge {
  /** Resolves when the client has closed. */
  readonly ended: Promise<void>
  /** Resolves when all requests are answered; subscriptions are ended. */
  readonly finish: () => Promise<void>
}

/** Outside of the range that the protocol reserves. */
const FAILED = -32_000

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message

/** The protocol version that `initialize` negotiated, sent with later requests. */
function settled(message: JSONRPCMessage): string | undefined {
  const version = 'result' in message ? message.result.protocolVersion : undefined
  return typeof version === 'string' ? version : undefined
}

const handshake = z.object({
  method: z.literal('initialize'),
  params: z.object({ clientInfo: z.object({ name: z.string() }) }),
})

const isContextCall = ({ method, params }: JSONRPCRequest): boolean =>
  method === CALL_TOOL && params?.name === 'get_context'

/** A context, with what is to be said of the history behind it. */
function withHistory(message: JSONRPCMessage, text: string): JSONRPCMessage {
  if (!('result' in message) || message.result.isError === true) return message
  const { content } = message.result
  if (!Array.isArray(content)) return message
  return {
    ...message,
    result: { ...message.result, content: [...content, { type: 'text', text }] },
  }
}

const NOT_JSON_RPC =
  'each line is one JSON-RPC 2.0 object; a batch, or an id that is neither a string nor an integer, is not answered.'

/** The sentence for people: a schema's own message has many lines. */
const faultOf = (error: Error): string =>
  error instanceof z.ZodError ? NOT_JSON_RPC : error.message

/** Forwards messages between two MCP transports. */
async function bridge({ here, there, say, named, history }: Ends): Promise<Bridge> {
  const running = createRunning()
  const contexts = new Set<RequestId>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()

  async function answer(message: JSONRPCMessage): Promise<void> {
    const version = settled(message)
    if (version !== undefined) there.setProtocolVersion(version)
    const isContext = 'result' in message && message.id !== undefined && contexts.delete(message.id)
    const notice = isContext ? await history() : undefined
    await here.send(notice ? withHistory(message, notice) : message)
    if (!('method' in message) && message.id !== undefined) running.end(message.id)
  }

  function fail(id: RequestId | undefined, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    say(message)
    if (id === undefined || !running.has(id)) return
    const failure = { jsonrpc: '2.0' as const, id, error: { code: FAILED, message } }
    answer(failure).catch(() => end())
  }

  function ask(request: JSONRPCRequest): void {
    const { id } = request
    const requestSignal = running.begin(request)
    if (isContextCall(request)) contexts.add(id)
    const { data } = handshake.safeParse(request)
    if (data) named(data.params.clientInfo.name)
    const onRequestStreamEnd = () => fail(id, new Error('the stream ended'))
    there.send(request, { requestSignal, onRequestStreamEnd }).catch((error: unknown) => {
      if (!requestSignal.aborted) fail(id, error)
    })
  }

  here.onmessage = (message) => {
    if (isRequest(message)) return ask(message)
    if ('method' in message && message.method === 'notifications/cancelled') {
      return running.cancel(message.params?.requestId)
    }
    there.send(message).catch((error: unknown) => fail(undefined, error))
  }
  here.onerror = (error) => say(`The input is not an MCP message: ${faultOf(error)}`)
  here.onclose = () => void there.close().then(end)
  there.onmessage = (message) => void answer(message).catch(() => end())
  await there.start()
  await here.start()
  return { ended, finish: running.finish }
}

const NO_TOKEN =
  'That is not a token of an agent home. Copy all of it, as the birth or the operator gave it: aha_ and 49 characters.'

/** Where a client of MCP speaks and hears: standard input and output. */
export interface Streams {
  readonly input: Readable
  readonly output: Writable
  /** Prints a message for people. */
  readonly say: Ends['say']
}

/** No name can be this one: requests go to where the connection says. */
const SOME_HOME = new URL('http://home.invalid/mcp')

/**
 * Ends when the input has ended and all requests are answered. `connection`: asked for each request,
 * so that a token that is saved later is used.
 */
export async function relay(
  connection: () => Connection,
  { input, output, say }: Streams,
  timers: Pick<Timers, 'after'> = processTimers,
): Promise<void> {
  let client: string | undefined
  const asRun = () => {
    const found = connection()
    return { ...found, run: found.run ?? loadClientConfig().AGENT_HOME_RUN ?? client }
  }
  const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('@modelcontextprotocol/client'),
  ])
  const fetch = homeFetch(asRun, say, timers)
  const there = new StreamableHTTPClientTransport(SOME_HOME, { fetch })
  const history = () => checkHistory(connection)
  // Ended by us, because the transport would drop pending responses.
  const lines = input.pipe(new PassThrough(), { end: false })
  const { ended, finish } = await bridge({
    here: new StdioServerTransport(lines, output),
    there,
    say,
    named: (name) => {
      client = runOfClient(name)
    },
    history,
  })
  input.once('end', () => void finish().then(() => lines.end()))
  await ended
  // What this session did is remembered too.
  await history()
}

/** Throws Failure. */
function validConnection(given: Given): Connection {
  const connection = connectionOf(given)
  if (!isWellFormedToken(connection.token)) throw usage(NO_TOKEN)
  // Refuses a name of the run that no header can have.
  homeAt(connection)
  return connection
}

export const mcpCommand: Run = async (given, { isTyped }) => {
  const connection = () => validConnection(given)
  // A person learns it at once; a program at each call.
  if (isTyped) connection()
  const say = (sentence: string) => void process.stderr.write(`${sentence}\n`)
  await relay(connection, { input: process.stdin, output: process.stdout, say })
  return undefined
}
