/** What a bench found: on the terminal, and as a dated file in `results/`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A goal of the project, and what was measured. */
export interface Goal {
  readonly goal: string
  readonly measured: string
  readonly met: boolean
}

/** A script's share of a result. */
export interface Finding {
  /** Markdown. */
  readonly part: string
  readonly goals: readonly Goal[]
}

const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

/** Rows of text as a Markdown table; the first column is words, the others are numbers. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((title, i) =>
    Math.max(3, title.length, ...rows.map((r) => r[i]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

export const goalsTable = (goals: readonly Goal[]): string =>
  markdownTable(
    ['Goal', 'measured', ''],
    goals.map(({ goal, measured, met }) => [goal, measured, met ? 'met' : 'not met']),
  )

export interface Result {
  /** The file's name after its date. */
  readonly name: string
  readonly title: string
  readonly machine: readonly string[]
  /** Markdown. */
  readonly parts: readonly string[]
  /** Where the file goes, where not to `results/`. */
  readonly directory?: string | undefined
}

/** Answers where it was written. */
export function writeResult({ name, title, machine, parts, directory = RESULTS }: Result): string {
  const date = new Date().toISOString().slice(0, 16).replace(':', '')
  const facts = machine.map((fact) => `- ${fact}`).join('\n')
  const file = join(directory, `${date}-${name}.md`)
  mkdirSync(directory, { recursive: true })
  writeFileSync(file, `${[`# ${title}`, `${date} UTC`, facts, ...parts].join('\n\n')}\n`)
  return file
}

/** What a script found on its own. */
export const publishFinding = (
  name: string,
  title: string,
  machine: readonly string[],
  { part, goals }: Finding,
): void => publish({ name, title, machine, parts: [part, goalsTable(goals)] })

/** On the terminal: what took so long is not lost with what comes after it. */
export const show = (part: string): void => void process.stdout.write(`${part}\n\n`)

export function publish(result: Result): void {
  for (const part of result.parts) show(part)
  show(`Written to ${writeResult(result)}`)
}
