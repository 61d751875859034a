#!/usr/bin/env node
/** Moves everything from one engine to the other: `--from sqlite:… --to postgres://…`. */
import { parseArgs } from 'node:util'
import { type Moved, move } from '../store/move/move.ts'
import { StoreRefused, StoreUnavailable } from '../store/port/errors.ts'

const USAGE = 'Usage: npm run move -- --from sqlite:./data/home.db --to postgres://…/home'

const options = { from: { type: 'string' }, to: { type: 'string' } } as const

const say = (text: string): void => void process.stdout.write(text)

/** One line for each table, rewritten as its rows go over. */
function progress(table: string, rows: number, total: number): void {
  if (process.stdout.isTTY) say(`\r  ${table.padEnd(14)} ${rows} of ${total}`)
  if (process.stdout.isTTY && rows === total) say('\n')
}

const report = (moved: readonly Moved[]): string =>
  moved
    .map(({ table, rows, digest }) => `  ${table.padEnd(14)} ${rows}  ${digest.slice(0, 16)}\n`)
    .join('')

async function main(): Promise<void> {
  // What it makes beside the source is for its own user alone.
  process.umask(0o077)
  const { from, to } = parseArgs({ options }).values
  if (!from || !to) throw new StoreRefused(USAGE)
  const moved = await move(from, to, Date.now(), progress)
  say(`Moved, counted and compared, rows and digests equal on both sides:\n${report(moved)}`)
  say('Start the service with the new DATABASE_URL. Every token keeps working.\n')
}

main().catch((error: unknown) => {
  const known = error instanceof StoreRefused || error instanceof StoreUnavailable
  process.stderr.write(`${known ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
})
