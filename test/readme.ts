/** The README and other documents, taken apart: their fenced blocks in their order, and their tables. */
import { readFileSync } from 'node:fs'

export interface Step {
  /** A shell block, exactly as printed. */
  readonly shell: string
  /** What the document says that it prints, if it says so. */
  readonly prints: string | undefined
}

/** `path`: from the root of the repository. */
export const readDocument = (path: string): string =>
  readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

export const section = (path: string, title: string): string =>
  readDocument(path)
    .split(/^## /m)
    .find((text) => text.startsWith(title)) ?? ''

/** Each shell block, with the JSON or text that follows it before the next one. */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = []
  for (const [, language, block = ''] of markdown.matchAll(
    /^```(sh|json|text)\n([\s\S]*?)^```$/gm,
  )) {
    if (language === 'sh') steps.push({ shell: block, prints: undefined })
    else steps.push({ shell: steps.pop()?.shell ?? '', prints: block })
  }
  return steps
}

/** Rows of the only table in a piece of Markdown, cells without their backticks. */
export const tableOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')))

/** Matches a text in which `…` stands for anything within a line. */
export const likeness = (printed: string): RegExp =>
  new RegExp(`^${printed.trim().split('…').map(RegExp.escape).join('.+?')}$`)
