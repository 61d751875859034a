/** The load generator: a process of its own that measures what its parent names. */
import { etcdDialect } from '../contestants/etcd.ts'
import { gatewayDialect, homeDialect } from '../contestants/home.ts'
import { mcpMemoryDriver } from '../contestants/mcp-memory.ts'
import { pouchdbDialect } from '../contestants/pouchdb.ts'
import { redisDialect } from '../contestants/redis.ts'
import type { Cell, Sample } from './dialect.ts'
import { type Driver, socketDriver } from './sockets.ts'
import type { Prefilled } from './turns.ts'

/** How to reach a contestant, and in whose words. */
export type Approach =
  | {
      readonly speaks: 'home'
      readonly port: number
      readonly tokens: readonly string[]
      readonly prefilled?: Prefilled
    }
  | { readonly speaks: 'gateway' | 'etcd' | 'redis' | 'pouchdb'; readonly port: number }
  | { readonly speaks: 'mcp-memory'; readonly command: readonly string[] }

export type Order =
  | { readonly id: number; readonly name: string; readonly fill: Approach }
  | { readonly id: number; readonly name: string; readonly cell: Cell }

export interface Report {
  readonly id: number
  readonly sample?: Sample
  readonly error?: string
}

const dialects = {
  gateway: gatewayDialect,
  etcd: etcdDialect,
  redis: redisDialect,
  pouchdb: pouchdbDialect,
}

function driverFor(approach: Approach): Driver {
  if (approach.speaks === 'mcp-memory') return mcpMemoryDriver(approach.command)
  if (approach.speaks !== 'home') return socketDriver(dialects[approach.speaks], approach.port)
  return socketDriver(homeDialect(approach.tokens), approach.port, approach.prefilled)
}

const drivers = new Map<string, Driver>()

async function obey(order: Order): Promise<Sample | undefined> {
  if ('fill' in order) {
    const driver = driverFor(order.fill)
    drivers.set(order.name, driver)
    if (!('prefilled' in order.fill)) await driver.fill()
    return undefined
  }
  const driver = drivers.get(order.name)
  if (!driver) throw new Error(`${order.name} was not filled`)
  return driver.measure(order.cell)
}

const reply = (report: Report): void => {
  process.send?.(report)
}

process.on('message', (order: Order) => {
  obey(order).then(
    (sample) => reply({ id: order.id, ...(sample && { sample }) }),
    (error: unknown) => reply({ id: order.id, error: `${order.name}: ${String(error)}` }),
  )
})
