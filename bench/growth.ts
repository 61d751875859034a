/**
 * Does the cost of a request grow with what is kept? A home with a thousand memories and one with a
 * million, a hundred to each agent, in turns.
 *
 *   node bench/growth.ts [--quick]
 */
import { fullHome, type RunningHome } from './home.ts'
import type { Operation } from './load/dialect.ts'
import { type Generator, startGenerator } from './load/handle.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const IN_EACH_HOME = 100
const WITHIN = 1.15
const FEW = 1_000

interface Plan {
  readonly many: number
  /** How long each is read from before anything is measured: what is kept is met as it is kept. */
  readonly warmSeconds: number
  readonly rounds: number
  readonly seconds: number
}

export const growthPlan = (quick: boolean): Plan =>
  quick
    ? { many: 20_000, warmSeconds: 0.5, rounds: 1, seconds: 0.5 }
    : { many: 1_000_000, warmSeconds: 20, rounds: 5, seconds: 2 }

const cells: readonly { operation: Operation; connections: number }[] = [
  { operation: 'read', connections: 32 },
  { operation: 'update', connections: 64 },
]

const nameOf = (memories: number): string => `${memories.toLocaleString('en-US')} memories`

async function open(directory: string, memories: number, generator: Generator) {
  const { tokens, ...home } = await fullHome(directory, memories / IN_EACH_HOME, memories)
  const approach = { speaks: 'home', port: Number(home.url.port), tokens } as const
  await generator.fill(nameOf(memories), { ...approach, prefilled: { keys: memories } })
  return home
}

type Rates = Record<string, number[]>

async function compete(generator: Generator, plan: Plan): Promise<Rates> {
  const { many, rounds, seconds } = plan
  const rates: Rates = {}
  for (const name of [nameOf(FEW), nameOf(many)]) {
    await generator.measure(name, { operation: 'read', connections: 32, seconds: plan.warmSeconds })
  }
  for (let round = 0; round < rounds; round++) {
    for (const cell of cells) {
      for (const name of [nameOf(FEW), nameOf(many)]) {
        await generator.measure(name, { ...cell, seconds: seconds / 4 })
        const { perSecond, failed } = await generator.measure(name, { ...cell, seconds })
        if (failed > 0) throw new Error(`${failed} requests failed at ${name}`)
        const row = `${name}, ${cell.operation}`
        rates[row] = [...(rates[row] ?? []), perSecond]
      }
    }
  }
  return rates
}

function goalFor(rates: Rates, operation: Operation, many: number): Goal {
  const rate = (memories: number) => median(rates[`${nameOf(memories)}, ${operation}`] ?? [])
  const factor = rate(FEW) / rate(many)
  return {
    goal: `${operation}: at ${nameOf(many)} within ${WITHIN} of ${FEW}`,
    measured: `${factor.toFixed(2)} (${Math.round(rate(FEW))}/s to ${Math.round(rate(many))}/s)`,
    met: factor <= WITHIN,
  }
}

export async function growth(plan: Plan): Promise<Finding> {
  const generator = startGenerator()
  const homes: RunningHome[] = []
  try {
    return await onDisk((few) =>
      onDisk(async (many) => {
        homes.push(await open(few, FEW, generator))
        homes.push(await open(many, plan.many, generator))
        const rates = await compete(generator, plan)
        for (const { child } of homes) await stop(child)
        const rows = Object.entries(rates).map(([name, all]) => [
          name,
          `${Math.round(median(all))}`,
        ])
        return {
          part: `### growth\n\n${markdownTable(['', 'requests/s'], rows)}`,
          goals: cells.map(({ operation }) => goalFor(rates, operation, plan.many)),
        }
      }),
    )
  } finally {
    generator.stop()
  }
}

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await growth(growthPlan(process.argv.includes('--quick')))
  publishFinding('growth', 'A thousand memories and a million', machine, found)
  process.exit(0)
}
