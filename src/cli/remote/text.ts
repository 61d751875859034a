/** Texts on their way in and out. */
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Given } from '../command.ts'
import { usage } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textIn(bytes: Uint8Array, from: string): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw usage(`${from} is not UTF-8.`)
  }
}

async function bytesOf(file: string): Promise<Uint8Array> {
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

/** As an argument, in a file, or on standard input. */
export async function textGiven(
  { args, options }: Given,
  at: number,
  terminal: Terminal,
): Promise<string> {
  const { file } = options
  if (args[at] !== undefined && file !== undefined) throw usage('Give TEXT or --file, not both.')
  if (file !== undefined && file !== '-') return textIn(await bytesOf(file), file)
  return args[at] ?? standardInput(terminal)
}

/** On a screen a text must not speak to the terminal; anywhere else it is what it is. */
export function textShown(text: string, { isShown }: Terminal): string {
  if (!isShown) return text
  const harmless = text.replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '\ufffd')
  return harmless.endsWith('\n') ? harmless : `${harmless}\n`
}
