/**
 * A session that was stolen must not outlive itself. Every form of the console is sent all the
 * fields that any of them reads, so that what makes a credential is found and not listed.
 */
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleEndpoints } from '../../src/web/index.ts'
import { PASSWORD } from '../accounts.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { register, request } from '../oauth/client.ts'
import { fieldsIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const HOURS_MS = 3 * 3_600_000

let service: TestService
let clientId: string
beforeAll(async () => {
  service = await openService(embedded, {
    CONTROLS_PER_MINUTE: '9999',
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
    OAUTH_PER_MINUTE: '0',
    FAILURES_PER_MINUTE: '0',
    SIGN_INS_PER_MINUTE: '0',
  })
  clientId = await register(service)
})
afterAll(() => service.close())

const forms = consoleEndpoints.filter(({ method }) => method === 'POST')

const turnOf = async ({ agent, get }: Operator) =>
  fieldsIn((await get(`${agent}/keys`)).text).turn ?? ''

const allFields = async (operator: Operator) => ({
  turn: await turnOf(operator),
  name: 'A key',
  purpose: 'Keeps a plan.',
  symbol: 'zerno',
  operatorConsent: 'yes',
  access: 'write',
  days: '0',
  home: operator.born.agentId,
  request: request(clientId),
  decision: 'allow',
  understood: 'yes',
  assent: 'yes',
})

/** The hashes of all that opens something for longer than a session. */
function credentials(): Set<string> {
  const db = new DatabaseSync(service.store.location, { readOnly: true })
  const rows = db
    .prepare('SELECT token_hash AS id FROM credentials UNION ALL SELECT id FROM passkeys')
    .all()
  db.close()
  return new Set(rows.map(({ id }) => String(id)))
}

/** Which of the forms make a credential, each sent by an operator of its own. */
async function makers(elapsed: number, more: Record<string, string> = {}): Promise<string[]> {
  const found: string[] = []
  for (const { operationId, path } of forms) {
    const operator = await openConsole(service)
    service.tick(elapsed)
    const before = credentials()
    const at = path.replace(':agent', operator.born.agentId).replace(':client', 'http')
    await operator.post(at, { ...(await allFields(operator)), ...more })
    if (!credentials().isSubsetOf(before)) found.push(operationId)
  }
  return found
}

test('a form that makes a credential needs a recent sign-in, whichever it is', async () => {
  expect(await makers(0)).toEqual([
    'consoleBirth',
    'consoleConsent',
    'consoleConnectKey',
    'consoleRotate',
    'consoleNewKey',
    'consoleOperatorKey',
  ])
  expect(await makers(HOURS_MS)).toEqual([])
})

const refused = [
  ['keys', 'keyPassword'],
  ['connect/http', 'password'],
] as const

test.each(refused)('%s shows its form again, whose turn is not taken', async (below, field) => {
  const operator = await openConsole(service)
  service.tick(HOURS_MS)
  const sent = await allFields(operator)
  const answer = await operator.post(`${operator.agent}/${below}`, sent)
  expect([answer.status, answer.text.includes(`id="${field}-fault"`)]).toEqual([400, true])
  const proven = { ...sent, [field]: PASSWORD }
  expect((await operator.post(`${operator.agent}/${below}`, proven)).status).toBe(200)
})

test('a client is let in with the password, and refused without it', async () => {
  const id = await register(service)
  const operator = await openConsole(service)
  service.tick(HOURS_MS)
  const sent = { ...(await allFields(operator)), request: request(id) }
  expect((await operator.get(`/console/consent?${request(id)}`)).text).toContain('Your password')
  const asked = await operator.post('/console/consent', sent)
  expect([asked.status, asked.text.includes('id="password-fault"')]).toEqual([400, true])
  const back = async (fields: Record<string, string>) =>
    (await operator.post('/console/consent', { ...sent, ...fields })).headers.get('location')
  expect(await back({ decision: 'refuse' })).toContain('error=access_denied')
  expect(await back({ password: PASSWORD })).toContain('code=')
})
