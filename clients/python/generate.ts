/**
 * The client for programs that do not await, generated from the one for those that do:
 * `npm run generate` writes it, and a test compares them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`src/agent_home/${name}`, import.meta.url))

/** In this order. Each must be there. */
const REPLACED: readonly (readonly [awaited: RegExp, blocking: string])[] = [
  [
    /^"""The same home for programs that await\."""/,
    '"""A home, with what its operator may: the token says who you are."""\n\n# Generated from async_client.py: change that one, and run `npm run generate`.',
  ],
  [/many tasks of one event loop/g, 'many threads'],
  [/^ +A task that is cancelled .*\n/gm, ''],
  [/those of this event loop/g, 'those of this process'],
  [/^import asyncio\nimport inspect$/m, 'import threading\nimport time'],
  [/^ {4}(AsyncIterable|Awaitable|awaited),\n/gm, ''],
  [/\bawaited\(([\w.]+)\)/g, '$1'],
  [/ \| AsyncIterable\[bytes\]/g, ''],
  [/ \| Awaitable\[str \| Content \| N\]/g, ''],
  [/\bawait found if inspect\.isawaitable\(found\) else found/g, 'found'],
  [/asyncio\.sleep/g, 'time.sleep'],
  [/asyncio\.Lock/g, 'threading.Lock'],
  [/asyncio\.get_running_loop\(\)/g, ''],
  [/\bStopAsyncIteration\b/g, 'StopIteration'],
  [/\bAsync(AgentHome|Client|BaseTransport|Hits|Iterator)\b/g, '$1'],
  [/\ba(close|iter_bytes)\b/g, '$1'],
  [/__a(enter|exit|iter|next)__/g, '__$1__'],
  [/\basync (?=def|for|with)/g, ''],
  [/\bawait /g, ''],
]

export function blockingClient(): string {
  return REPLACED.reduce(
    (text, [awaited, blocking]) => {
      const replaced = text.replace(awaited, blocking)
      if (replaced === text) throw new Error(`async_client.py has no ${awaited}`)
      return replaced
    },
    readFileSync(fileOf('async_client.py'), 'utf8'),
  )
}

export const BLOCKING = fileOf('client.py')

if (import.meta.main) writeFileSync(BLOCKING, blockingClient())
