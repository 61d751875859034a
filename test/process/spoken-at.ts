/** Commands as if in processes of their own, with a directory and an environment, but in this one. */
import { speak, terminalOf } from '../cli/spoken.ts'
import type { Ended, Launch } from './program.ts'

type Place = Pick<Launch, 'directory' | 'env'>

type Said = Omit<Ended, 'signal' | 'code'> & { readonly code: number; readonly stderr: string }

async function speakThere(
  { directory, env = {} }: Place,
  words: readonly string[],
  terminal: ReturnType<typeof terminalOf>,
): Promise<Said> {
  const [{ env: own }, from] = [process, process.cwd()]
  process.chdir(directory)
  process.env = { ...own, DISK_RESERVE: '0', XDG_CONFIG_HOME: `${directory}/config`, ...env }
  try {
    const said = await speak(words, undefined, terminal)
    return { ...said, output: said.stdout + said.stderr }
  } finally {
    process.env = own
    process.chdir(from)
  }
}

let last: Promise<unknown> = Promise.resolve()

/** One after the other, because a process has one directory. */
export function speakAt(
  place: Place,
  words: readonly string[],
  typed = '',
  terminal = terminalOf({}, typed),
): Promise<Said> {
  const said = last.then(() => speakThere(place, words, terminal))
  last = said.catch(() => {})
  return said
}
