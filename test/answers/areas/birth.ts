/** How agents come to be: births, their replays, and their faults. */
import { bear, birthOf, keyOf, remember, rotate } from '../agents.ts'
import { badBodies } from '../bodies.ts'
import type { Part, Scene, Sent } from '../scene.ts'

export const BIRTH = 'POST /api/agents/birth'
export const PREVIEW = 'GET /api/agents/preview'

const account = { email: 'Keeper@Example.org', password: 'correct horse battery' }

const births: Part = async (visit) => {
  await visit.askAll([
    ['a birth', BIRTH, birthOf(keyOf(1))],
    ['its replay', BIRTH, birthOf(keyOf(1))],
    [
      'its replay in another spelling',
      BIRTH,
      {
        ...birthOf(keyOf(1)),
        body: '{"operatorConsent": true, "symbol": "zerno", "purpose": "Keeps the plan of a long migration.", "name": "\\u0041tlas"}',
        json: undefined,
      },
    ],
    ['the same key for another birth', BIRTH, birthOf(keyOf(1), { name: 'Other' })],
    ['a birth that makes an account', BIRTH, birthOf(keyOf(2), account)],
    ['its replay', BIRTH, birthOf(keyOf(2), account)],
    ['its replay without the account', BIRTH, birthOf(keyOf(2))],
    [
      'a birth that joins the account',
      BIRTH,
      birthOf(keyOf(3), { ...account, email: 'keeper@example.org' }),
    ],
    ['a wrong password', BIRTH, birthOf(keyOf(4), { ...account, password: 'wrong horse battery' })],
    [
      'a common password',
      BIRTH,
      birthOf(keyOf(4), { email: 'new@example.org', password: 'Password1234' }),
    ],
    [
      'one character twelve times',
      BIRTH,
      birthOf(keyOf(4), { email: 'new@example.org', password: 'zzzzzzzzzzzz' }),
    ],
    [
      'a birth of every kind of character',
      BIRTH,
      birthOf(keyOf(5), { name: 'Їжак 🦔', purpose: '<b>"\\"</b>\n' }),
    ],
  ])
}

const keys: Readonly<Record<string, Sent['headers']>> = {
  'no key': {},
  'an empty key': { 'Idempotency-Key': '' },
  'a key in capitals': { 'Idempotency-Key': 'A'.repeat(64) },
  'a key of 63 characters': { 'Idempotency-Key': 'a'.repeat(63) },
  'a key of 65 characters': { 'Idempotency-Key': 'a'.repeat(65) },
  'two keys': { 'Idempotency-Key': [keyOf(6), keyOf(7)] },
  'two types': {
    'Idempotency-Key': keyOf(6),
    'Content-Type': ['application/json', 'application/json'],
  },
  'a foreign origin': { 'Idempotency-Key': keyOf(6), Origin: 'https://evil.example' },
}

const keyFaults: Part = async (visit) => {
  const { json } = birthOf('')
  for (const [title, headers = {}] of Object.entries(keys)) {
    await visit.ask(title, BIRTH, { headers, json })
  }
  await visit.ask('a parameter', `${BIRTH}?dry=1`, birthOf(keyOf(6)))
  await visit.ask('a token in the query', `${BIRTH}?token=a`, birthOf(keyOf(6)))
}

const long = (length: number): string => 'ї'.repeat(length)

const fieldFaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'no name': { name: undefined },
  'an empty name': { name: '' },
  'a name of 80 characters': { name: long(80) },
  'a name of 81 characters': { name: long(81) },
  'a name that is a number': { name: 1 },
  'an empty purpose': { purpose: '' },
  'a purpose of 1001 characters': { purpose: long(1001) },
  'a purpose that is null': { purpose: null },
  'no symbol': { symbol: undefined },
  'an unknown symbol': { symbol: 'ZERNO' },
  'no consent': { operatorConsent: undefined },
  'consent withheld': { operatorConsent: false },
  'consent as text': { operatorConsent: 'true' },
  'an unknown property': { colour: 'green' },
  'an e-mail alone': { email: 'a@example.org' },
  'a password alone': { password: 'correct horse battery' },
  'an e-mail that is none': { email: 'nobody', password: 'correct horse battery' },
  'an e-mail of 255 characters': {
    email: `${'a'.repeat(243)}@example.org`,
    password: 'correct horse battery',
  },
  'a password of 11 characters': { email: 'a@example.org', password: 'elevenchars' },
  'a password of 129 characters': { email: 'a@example.org', password: 'xy'.repeat(65) },
  'every fault at once': {
    name: '',
    purpose: '',
    symbol: '',
    operatorConsent: 1,
    email: '',
    password: '',
  },
}

const bodyFaults: Part = async (visit) => {
  for (const [title, change] of Object.entries(fieldFaults)) {
    await visit.ask(title, BIRTH, birthOf(keyOf(8), change))
  }
  const headers = { 'Idempotency-Key': keyOf(9) }
  for (const [title, line, sent] of badBodies(BIRTH)) {
    await visit.ask(title, line, { ...sent, headers: { ...headers, ...sent?.headers } })
  }
  const body = `"${'x'.repeat(131_071)}"`
  await visit.ask('a body that is too large', BIRTH, { headers, body })
}

const afterwards: Part = async (visit) => {
  const key = keyOf(0xa)
  await visit.ask('a birth', BIRTH, birthOf(key))
  const agent = await bear(visit)
  await rotate(visit, agent)
  const born = JSON.parse(`${(await visit.prepare(BIRTH, birthOf(key))).body}`)
  await visit.ask('a rotation', 'POST /api/agents/me/keys', { bearer: born.operator_token })
  await visit.ask('its replay after a rotation', BIRTH, birthOf(key))
  await visit.ask('another birth under its key', BIRTH, birthOf(key, { name: 'Other' }))
}

const emptied: Part = async (visit) => {
  const agent = await bear(visit)
  await remember(visit, agent, 'plan', 'Step 1')
  await visit.ask('the preview', PREVIEW)
}

export const birth: Scene = {
  env: { BIRTHS_PER_HOUR_PER_ADDRESS: '0', FAILURES_PER_MINUTE: '0' },
  parts: {
    births,
    'keys that are refused': keyFaults,
    'bodies that are refused': bodyFaults,
    'after a rotation': afterwards,
    'the preview counts nobody': emptied,
  },
}
