/** A consistent copy of a database, whether the service runs or not. */
import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../program-files.ts'
import type { Timers } from '../../../timers.ts'
import type { Checking } from '../../port/check.ts'
import { StoreRefused } from '../../port/errors.ts'
import { existingFile } from '../control/reach.ts'
import { pathOf } from '../engine/connection.ts'
import type { Copying } from './backup-thread.ts'

const LOOK_MS = 200

/** The copy must be as durable as the original. */
function sync(file: string): void {
  const opened = openSync(file, 'r')
  fsyncSync(opened)
  closeSync(opened)
}

async function finished(thread: Worker): Promise<void> {
  try {
    await once(thread, 'exit')
  } catch (cause) {
    const reason = (cause as Error).message
    throw new StoreRefused(`The backup could not be written: ${reason}.`, { cause })
  }
}

/** Read-only: a running service is not delayed. `target`: an empty file. */
export async function copyDatabase(
  databaseUrl: string,
  target: string,
  copying: Checking,
  { every }: Timers,
): Promise<string> {
  const { file: path } = existingFile(pathOf(databaseUrl))
  const copy: Copying = { path, target }
  const thread = startThread('backup-thread', import.meta.url, copy)
  const total = statSync(path).size
  const look = () => copying(Math.min(statSync(target).size, total), total)
  const stopLooking = every(LOOK_MS, look)
  try {
    await finished(thread)
  } finally {
    stopLooking()
  }
  copying(total, total)
  sync(target)
  return path
}
