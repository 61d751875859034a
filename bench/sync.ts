/**
 * Milliseconds that one fsync after an append of 4 KB takes: the median.
 *
 *   node bench/sync.ts <directory>
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './load/sample.ts'

const SYNCS = 300

const [directory = ''] = process.argv.slice(2)
const fd = openSync(join(directory, 'syncs'), 'w')
const block = Buffer.alloc(4_096, 1)
const taken = Array.from({ length: SYNCS }, () => {
  const startedAt = performance.now()
  writeSync(fd, block)
  fsyncSync(fd)
  return performance.now() - startedAt
})
closeSync(fd)
process.stdout.write(`${median(taken)}`)
