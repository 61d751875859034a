/** Fills the house: agents of one account with a month behind them, and a garden with visitors. */
import { randomBytes } from 'node:crypto'
import { memories, plan, traces } from './content.ts'
import type { House } from './house.ts'

export const EMAIL = 'marta@example.org'
export const PASSWORD = 'correct horse battery'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Body = Record<string, unknown>

interface Sent {
  readonly token?: string
  readonly method?: string
}

type Send = (path: string, body: Body, options?: Sent) => Promise<Body>

const sendTo =
  ({ base }: House): Send =>
  async (path, body, { token, method = 'POST' } = {}) => {
    const response = await fetch(base + path, {
      method,
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        'idempotency-key': randomBytes(32).toString('hex'),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    })
    const answer = (await response.json()) as Body
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    return answer
  }

async function birth(send: Send, name: string, purpose: string, symbol: string) {
  const account = { email: EMAIL, password: PASSWORD }
  const born = await send('/api/agents/birth', {
    ...{ name, purpose, symbol, operatorConsent: true, ...account },
  })
  return {
    id: String(born.agent_id),
    token: String(born.token),
    operatorToken: String(born.operator_token),
  }
}

async function writePlan(house: House, send: Send, token: string, operatorToken: string) {
  for (let step = 1; step <= 6; step++) {
    house.setBehind((6 - step) * 5 * HOUR_MS + HOUR_MS)
    const metadata = { pinned: true, owner: 'Marta', step: String(step) }
    const write = { key: 'plan', text: plan(step), metadata, expectedVersion: step - 1 }
    await send('/api/agents/me/memory', write, { token: step === 4 ? operatorToken : token })
  }
}

async function fillHome(house: House, send: Send): Promise<string> {
  house.setBehind(31 * DAY_MS)
  const purpose = 'Keeps the plan of a long migration and what customers said.'
  const { id, token, operatorToken } = await birth(send, 'Atlas', purpose, 'zerno')
  for (const [i, [key, text]] of memories.entries()) {
    house.setBehind((memories.length - i + 1) * 4 * HOUR_MS)
    await send('/api/agents/me/memory', { key, text, expectedVersion: 0 }, { token })
  }
  await writePlan(house, send, token, operatorToken)
  return id
}

async function fillGarden(house: House, send: Send): Promise<void> {
  for (const [i, { seed, ...trace }] of traces.entries()) {
    house.setBehind((traces.length - i) * 2 * DAY_MS)
    const planted = await send('/api/seeds', { text: seed, symbol: seed })
    const { id: seedId } = planted.seed as Body
    await send('/api/garden', { ...trace, seedId })
  }
}

/** The id of the agent in the pictures. */
export async function fillHouse(house: House): Promise<string> {
  const send = sendTo(house)
  const id = await fillHome(house, send)
  await fillGarden(house, send)
  house.setBehind(0)
  return id
}
