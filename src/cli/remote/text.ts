/** Reading and printing texts. */
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Arguments } from '../command.ts'
import { usage } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function textIn(bytes: Uint8Array, from: string): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw usage(`${from} is not UTF-8.`)
  }
}

export async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`)
  }
}

export async function standardInput({ input, isTyped, tell }: Terminal): Promise<string> {
  if (isTyped) tell('Type the text, then Ctrl+D:\n')
  return textIn(await buffer(input), 'Standard input')
}

/** From an argument, a file, or standard input. */
export async function textGiven(
  { args, options }: Arguments,
  at: number,
  terminal: Terminal,
): Promise<string> {
  const { file } = options
  if (args[at] !== undefined && file !== undefined) throw usage('Give TEXT or --file, not both.')
  if (file !== undefined && file !== '-') return textIn(await bytesOf(file), file)
  return args[at] ?? standardInput(terminal)
}

/** On a terminal, control characters are escaped; otherwise the text is unchanged. */
export function textShown(text: string, { isShown }: Terminal): string {
  if (!isShown) return text
  const harmless = text.replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '\ufffd')
  return harmless.endsWith('\n') ? harmless : `${harmless}\n`
}
