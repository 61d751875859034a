/** A program on a terminal, as the `script` of util-linux makes one: all that a person would see. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** Other systems have a `script` that is asked otherwise, or none. */
export const hasTerminals = (): boolean =>
  /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '')

export interface OnTerminal {
  /** Types it once the screen shows what it waits for. */
  readonly type: (after: RegExp, keys: string) => Promise<void>
  /** The code, a signal's plus 128, and the screen with all that was rewritten on it. */
  readonly ended: Promise<{ readonly code: number; readonly screen: string }>
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

export function onTerminal(
  directory: string,
  env: Readonly<Record<string, string>>,
  ...command: readonly string[]
): OnTerminal {
  const line = command.map(quoted).join(' ')
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: directory,
    env: { PATH, NODE_COMPILE_CACHE, SHELL: '/bin/sh', TERM: 'xterm', DISK_RESERVE: '0', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  let heard = () => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    heard()
  })
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code), screen }))
  const shows = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      heard = () => {
        if (pattern.test(screen)) resolve()
      }
      heard()
      ended.then(() => reject(new Error(`it never showed ${pattern}:\n${screen}`)), reject)
    })
  return {
    ended,
    async type(after, keys) {
      await shows(after)
      child.stdin.write(keys)
    },
  }
}
