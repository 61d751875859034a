/** Samples of all rounds -> medians -> the one table. */
import type { Cell, Operation, Sample } from './load/dialect.ts'
import { median } from './load/sample.ts'
import { markdownTable } from './result.ts'

export interface Measured extends Omit<Cell, 'seconds'> {
  readonly contestant: string
  readonly sample: Sample
}

/** Where the goals are set. */
export const READ_CONNECTIONS = 32
export const WRITE_CONNECTIONS = 64

export const BARE = 'bare node:http'
export const SQLITE = 'SQLite alone'
export const PLAIN_ROW = 'SQLite, one plain row'

/**
 * What a server could answer in a second if it cost no more than its parts do alone, one after the
 * other on one core. `storing`: the part that stores.
 */
export function limitOf(
  all: readonly Measured[],
  operation: Operation,
  connections: number,
  storing = SQLITE,
): number | undefined {
  const [bare, sqlite] = [BARE, storing].map((name) => find(all, name, operation, connections))
  return bare && sqlite && 1 / (1 / bare.perSecond + 1 / sqlite.perSecond)
}

const titles: Readonly<Record<Operation, string>> = {
  create: 'create',
  update: 'compare-and-swap update, random keys',
  hot: 'compare-and-swap update, one hot key',
  read: 'read',
}

const medianSample = (samples: readonly Sample[]): Sample => {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
  const known = samples.every((sample) => sample.serverMicros !== undefined)
  return {
    perSecond: of((s) => s.perSecond),
    savedPerSecond: of((s) => s.savedPerSecond),
    p50: of((s) => s.p50),
    p99: of((s) => s.p99),
    failed: Math.max(...samples.map((s) => s.failed)),
    generator: of((s) => s.generator),
    serverMicros: known ? of((s) => s.serverMicros ?? 0) : undefined,
  }
}

/** One for each contestant, operation and number of connections. */
export const medians = (measured: readonly Measured[]): Measured[] =>
  [
    ...Map.groupBy(measured, (m) => `${m.contestant}|${m.operation}|${m.connections}`).values(),
  ].flatMap((group) => {
    const [first] = group
    return first ? [{ ...first, sample: medianSample(group.map(({ sample }) => sample)) }] : []
  })

export const find = (
  all: readonly Measured[],
  contestant: string,
  operation: Operation,
  connections: number,
): Sample | undefined =>
  all.find(
    (m) =>
      m.contestant === contestant && m.operation === operation && m.connections === connections,
  )?.sample

const figure = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2)
}

const ratio = (value: number, bar: number | undefined): string =>
  bar ? (value / bar).toFixed(2) : '-'

function row({ contestant, connections, operation, sample }: Measured, all: readonly Measured[]) {
  const limit = limitOf(all, operation, connections)
  return [
    contestant + (sample.failed > 0 ? ` (${sample.failed} FAILED)` : ''),
    `${connections}`,
    figure(sample.perSecond),
    operation === 'hot' ? figure(sample.savedPerSecond) : '',
    figure(sample.p50),
    figure(sample.p99),
    ratio(sample.perSecond, limit),
    sample.serverMicros === undefined ? '-' : figure(sample.serverMicros),
    sample.generator === 0 ? '-' : `${Math.round(sample.generator * 100)}%`,
  ]
}

const head = [
  '',
  'connections',
  'requests/s',
  'saved/s',
  'p50 ms',
  'p99 ms',
  'of the limit',
  'CPU µs/request',
  'generator',
]

/** Where peers are compared: as the goals have it, and by one client alone. */
export const COMPARED = [
  ['read', READ_CONNECTIONS],
  ['create', WRITE_CONNECTIONS],
  ['update', WRITE_CONNECTIONS],
  ['update', 1],
] as const satisfies readonly (readonly [Operation, number])[]

export interface Peer {
  readonly name: string
  readonly synced?: boolean
}

/** Requests a second, for the README; undefined where a cell was not measured. */
export function sideBySide(all: readonly Measured[], peers: readonly Peer[]): string | undefined {
  const rows = peers.flatMap(({ name, synced }) => {
    const samples = COMPARED.map(([operation, count]) => find(all, name, operation, count))
    const figures = samples.flatMap((sample) => (sample ? [figure(sample.perSecond)] : []))
    return figures.length === COMPARED.length ? [[name, ...figures, synced ? 'yes' : 'no']] : []
  })
  const titles = COMPARED.map(([operation, count]) => `${operation}s, ${count}`)
  const head = ['requests a second, by connections', ...titles, 'on disk when answered']
  return rows.length > 1 ? `### side by side\n\n${markdownTable(head, rows)}` : undefined
}

/** A heading and a table for each operation. */
export const tables = (all: readonly Measured[]): string =>
  Object.entries(titles)
    .map(([operation, title]) => {
      const of = all
        .filter((m) => m.operation === operation)
        .toSorted((a, b) => a.connections - b.connections)
      return of.length === 0
        ? ''
        : `### ${title}\n\n${markdownTable(
            head,
            of.map((m) => row(m, all)),
          )}`
    })
    .filter(Boolean)
    .join('\n\n')
