/** Forwards messages between two MCP transports. */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import { rpcErrorIn, sentenceOf } from './failures.ts'
import { createRunning } from './running.ts'

interface Ends {
  /** The client's transport. */
  readonly here: Transport
  /** The home's transport. */
  readonly there: StreamableHTTPClientTransport
  /** The home's address, for messages. */
  readonly address: string
  /** Prints a message for people. */
  readonly say: (sentence: string) => void
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

export async function bridge({ here, there, address, say }: Ends): Promise<Bridge> {
  const running = createRunning()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()

  async function answer(message: JSONRPCMessage): Promise<void> {
    const version = settled(message)
    if (version !== undefined) there.setProtocolVersion(version)
    await here.send(message)
    if (!('method' in message) && message.id !== undefined) running.end(message.id)
  }

  function fail(id: RequestId | undefined, error: unknown): void {
    const message = sentenceOf(error, address)
    const told = rpcErrorIn(error)
    if (!told) say(message)
    if (id === undefined || !running.has(id)) return
    const failure = { jsonrpc: '2.0' as const, id, error: told ?? { code: FAILED, message } }
    answer(failure).catch(() => end())
  }

  function ask(request: JSONRPCRequest): void {
    const { id } = request
    const requestSignal = running.begin(request)
    const onRequestStreamEnd = () => fail(id, new Error('the stream ended'))
    there
      .send(request, { requestSignal, onRequestStreamEnd })
      .catch((error: unknown) => fail(id, error))
  }

  here.onmessage = (message) => {
    if (isRequest(message)) return ask(message)
    if ('method' in message && message.method === 'notifications/cancelled') {
      return running.cancel(message.params?.requestId)
    }
    there.send(message).catch((error: unknown) => fail(undefined, error))
  }
  here.onerror = (error) => say(`What came in is no message of the protocol: ${error.message}`)
  here.onclose = () => void there.close().then(end)
  there.onmessage = (message) => void answer(message).catch(() => end())
  await there.start()
  await here.start()
  return { ended, finish: running.finish }
}
