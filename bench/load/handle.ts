/** The generator's process, as the bench holds it. */
import { fileURLToPath } from 'node:url'
import { LOAD_CORE, spawnPinned } from '../process.ts'
import type { Cell, Sample } from './dialect.ts'
import type { Approach, Order, Report } from './generator.ts'

export interface Generator {
  /** Introduces a contestant and creates the keys that every contestant holds. */
  readonly fill: (name: string, approach: Approach) => Promise<void>
  readonly measure: (name: string, cell: Cell) => Promise<Sample>
  readonly stop: () => void
}

const SCRIPT = fileURLToPath(new URL('generator.ts', import.meta.url))

export function startGenerator(core = LOAD_CORE): Generator {
  const child = spawnPinned(core, [process.execPath, SCRIPT], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, (report: Report) => void>()
  let orders = 0
  child.on('message', (report: Report) => waiting.get(report.id)?.(report))
  child.on('exit', () => {
    for (const [id, settle] of waiting) settle({ id, error: 'the load generator ended' })
  })

  const give = (order: (id: number) => Order): Promise<Report> =>
    new Promise((resolve, reject) => {
      const id = orders++
      waiting.set(id, (report) => {
        waiting.delete(id)
        if (report.error === undefined) resolve(report)
        else reject(new Error(report.error))
      })
      child.send(order(id))
    })

  return {
    async fill(name, approach) {
      await give((id) => ({ id, name, fill: approach }))
    },
    async measure(name, cell) {
      const { sample } = await give((id) => ({ id, name, cell }))
      if (!sample) throw new Error(`${name} gave no sample`)
      return sample
    },
    stop: () => void child.kill(),
  }
}
