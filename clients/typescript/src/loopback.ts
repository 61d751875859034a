/** Loopback is never asked through a proxy of the environment: it would be given the token. */

const LOOPBACK =
  /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:.*\])\.?$/

/** Whether only this machine can be meant; a URL writes each address in one way. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(new URL(address).hostname)

/** Where Node.js keeps what `fetch` sends with. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.2')

type Direct = new (options: { noProxy: string }) => object

let direct: object | undefined

/**
 * What `fetch` takes beside the rest, in a Node.js that takes proxies from the environment
 * (`NODE_USE_ENV_PROXY`): the same way to send, for which no host has a proxy.
 */
export function withoutProxy(): { readonly dispatcher?: object } {
  const own = (globalThis as Record<symbol, unknown>)[DISPATCHER]
  const Agent = (own as { constructor: Direct } | undefined)?.constructor
  if (Agent?.name !== 'EnvHttpProxyAgent') return {}
  direct ??= new Agent({ noProxy: '*' })
  return { dispatcher: direct }
}
