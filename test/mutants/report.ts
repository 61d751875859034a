/** What became of the mutants of each group: a table, and the list of those that got away. */
import { readFileSync, writeFileSync } from 'node:fs'

interface Position {
  readonly line: number
  readonly column: number
}

interface Mutant {
  readonly replacement?: string
  readonly status: string
  readonly location: { readonly start: Position; readonly end: Position }
}

interface MutatedFile {
  readonly source: string
  readonly mutants: readonly Mutant[]
}

interface Report {
  readonly files: Readonly<Record<string, MutatedFile>>
}

export const REPORTS = 'mutants'

export const reportOf = (group: string): string => `${REPORTS}/${group}.json`

const read = (group: string): Report => JSON.parse(readFileSync(reportOf(group), 'utf8')) as Report

/** A mutant that does not even load counts as killed, as does one that never ends. */
const counted = { mutants: /./, killed: /Killed|Error/, timeout: /Timeout/ }
const missed = { survived: /Survived/, 'no coverage': /NoCoverage/ }

const isMissed = ({ status }: Mutant): boolean => /Survived|NoCoverage/.test(status)

function row(mutants: readonly Mutant[]): Record<string, number> {
  const counts = Object.entries({ ...counted, ...missed }).map(([name, statuses]) => {
    return [name, mutants.filter(({ status }) => statuses.test(status)).length] as const
  })
  const found = mutants.filter((mutant) => !isMissed(mutant)).length
  const percent = Math.round((1000 * found) / Math.max(1, mutants.length)) / 10
  return { ...Object.fromEntries(counts), '%': percent }
}

const ofFile = ({ mutants }: MutatedFile): Mutant[] =>
  mutants.filter(({ status }) => status !== 'Ignored')

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 120)

function original(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const last = lines.length - 1
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? ''
  lines[0] = lines[0]?.slice(start.column - 1) ?? ''
  return lines.join('\n')
}

const described = ({ source }: MutatedFile, { location, status, replacement }: Mutant): string =>
  `  ${location.start.line}: ${inOneLine(original(source, location))} -> ` +
  `${inOneLine(replacement ?? '')}${status === 'NoCoverage' ? ' (no test passes here)' : ''}`

const missedIn = ([path, file]: [string, MutatedFile]): string[] => {
  const lines = ofFile(file)
    .filter(isMissed)
    .toSorted((a, b) => a.location.start.line - b.location.start.line)
    .map((mutant) => described(file, mutant))
  return lines.length > 0 ? [path, ...lines, ''] : []
}

/** Prints the table, and leaves the list beside the reports. */
export function report(groups: readonly string[]): void {
  const all: Mutant[] = []
  const table: Record<string, Record<string, number>> = {}
  for (const group of groups) {
    const { files } = read(group)
    const mutants = Object.values(files).flatMap(ofFile)
    writeFileSync(`${REPORTS}/${group}.txt`, Object.entries(files).flatMap(missedIn).join('\n'))
    table[group] = row(mutants)
    all.push(...mutants)
  }
  console.table({ ...table, all: row(all) })
  console.info(`Those that no test found out are listed in ${REPORTS}/*.txt`)
}
