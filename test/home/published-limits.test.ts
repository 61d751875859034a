/** The limits that preview publishes: in figures of our own, and each held to what is enforced. */
import { PassThrough, type Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  type Born,
  birthBody,
  embedded,
  freshKey,
  incomingOf,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'

const PASSWORD = 'correct horse battery'

const rate = (name: string, quota: number, windowSeconds: number, per: string) => ({
  name,
  quota,
  windowSeconds,
  per,
})

const published = {
  fields: {
    name: { minLength: 1, maxLength: 80 },
    purpose: { minLength: 1, maxLength: 1_000 },
    email: { maxLength: 254 },
    password: {
      minLength: 12,
      maxLength: 128,
      refused:
        'the most common passwords, the e-mail address, its part before the @ and the name of this service, also with digits or signs around them or look-alikes for letters',
    },
    key: { pattern: '^[a-zA-Z0-9_.-]{1,100}$' },
    keyPrefix: { pattern: '^[a-zA-Z0-9_.-]{0,100}$' },
    text: { minLength: 1, maxBytes: 16_384 },
    metadata: { maxBytes: 4_096 },
    run: { minLength: 1, maxLength: 80 },
    model: { pattern: '^[\\w./:@-]{1,100}$' },
    vector: { minNumbers: 1, maxNumbers: 4_096 },
    search: { minLength: 1, maxBytes: 16_384 },
    around: { minimum: 0, maximum: 2 },
    context: { minBytes: 2_000, maxBytes: 65_536 },
    expectedVersion: { minimum: 0, maximum: 9_007_199_254_740_991 },
    body: {
      maxBytes: 131_072,
      maxDepth: 32,
      maxMembers: 4_096,
      maxValues: 32_768,
      maxNumberLength: 400,
      maxExponentDigits: 6,
    },
  },
  memoriesPerAgent: 10_000,
  bytesPerAgent: 67_108_864,
  versionsPerMemory: 50,
  eventsPerAgent: 10_000,
  keysPerAgent: 50,
  passkeysPerAccount: 10,
  sessionsPerAccount: 20,
  batch: { operations: 100, maxBytes: 1_048_576, answerBytes: 1_048_576 },
  appendKeys: { seconds: 86_400, events: 10_000 },
  vectors: { perRequest: 100, maxBytes: 2_359_296 },
  importBytes: 536_870_912,
  connectionsPerAddress: 256,
  streamsPerAddress: 32,
  transfersPerAddress: 64,
  transferBytesPerAddress: 536_870_912,
  atOnce: {
    exports: { perAgent: 1, perAddress: 1, inAll: 4 },
    imports: { perAgent: 1, perAddress: 1, inAll: 4 },
    searches: { perAddress: 1, inAll: 4 },
  },
  rates: {
    reads: { ...rate('reads', 6_000, 60, 'agent'), spentBy: ['agent', 'operator'] },
    writes: { ...rate('writes', 6_000, 60, 'agent'), spentBy: ['agent', 'operator'] },
    exports: { ...rate('exports', 10, 60, 'agent'), spentBy: ['agent', 'operator'] },
    controls: { ...rate('controls', 10, 60, 'agent'), spentBy: ['operator'] },
    births: rate('births', 10, 3_600, 'address'),
    birthsPerNetwork: rate('births-per-network', 50, 3_600, 'network'),
    birthsOnLoopback: rate('births-on-loopback', 1_000, 3_600, 'address'),
    birthsInAll: rate('births-in-all', 1_000, 3_600, 'service'),
    oauth: rate('oauth', 300, 60, 'address'),
    clientDocuments: rate('client-documents', 30, 60, 'address'),
    registrations: rate('registrations', 60, 3_600, 'address'),
    registrationsPerNetwork: rate('registrations-per-network', 300, 3_600, 'network'),
    registrationsInAll: rate('registrations-in-all', 1_000, 3_600, 'service'),
    failures: rate('failures', 60, 60, 'address'),
    signIns: rate('sign-ins', 20, 3_600, 'network and account'),
    signInsInAll: rate('sign-ins-in-all', 1_000, 3_600, 'account'),
    signInsKnown: rate('sign-ins-known', 60, 60, 'address and account'),
    sessions: rate('sessions', 10, 60, 'account'),
  },
}

type Limits = typeof published

const limitsOf = async (service: TestService): Promise<Limits> =>
  (await service.call('GET', '/api/agents/preview')).body.limits as Limits

const DEFAULT_FAILURES = { FAILURES_PER_MINUTE: '60', SIGN_INS_PER_MINUTE: '10' }

describe('the published limits', () => {
  let service: TestService
  let limits: Limits
  let token: string
  beforeAll(async () => {
    const births = { BIRTHS_PER_HOUR_PER_ADDRESS: '0' }
    service = await openService(embedded, { ...DEFAULT_FAILURES, ...births })
    limits = await limitsOf(service)
    token = (await service.birth()).token
  })
  afterAll(() => service.close())

  const bear = (extra: object) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { ...birthBody, ...extra },
    })

  const save = (extra: object) =>
    service.call('POST', memoryPath, {
      token,
      body: { key: 'absent', text: 'x', expectedVersion: 1, ...extra },
    })

  /** Accepted by every limit: nothing is under the key, so nothing is written. */
  const passes = (answer: Answer): void => expectProblem(answer, 'version_conflict')

  const refusedAt = (answer: Answer, field: string): void => {
    expectProblem(answer, 'invalid_body')
    expect(pointersOf(answer)).toEqual([`/${field}`])
  }

  test('are these, when nothing else was set', proves('limits.preview'), async () => {
    const untouched = await openService(embedded, DEFAULT_FAILURES)
    expect(await limitsOf(untouched)).toEqual(published)
    await untouched.close()
  })

  test.each(['name', 'purpose'] as const)('of the %s are enforced', async (field) => {
    const { minLength, maxLength } = limits.fields[field]
    for (const length of [minLength, maxLength]) {
      expect((await bear({ [field]: 'x'.repeat(length) })).status).toBe(201)
    }
    for (const length of [minLength - 1, maxLength + 1]) {
      refusedAt(await bear({ [field]: 'x'.repeat(length) }), field)
    }
  })

  test('of the e-mail address and the password are enforced', async () => {
    const { email, password } = limits.fields
    const address = (length: number) => `${'e'.repeat(length - '@example.org'.length)}@example.org`
    const longest = address(email.maxLength)
    const whole = { email: longest, password: 'p?'.repeat(password.maxLength / 2) }
    expect((await bear(whole)).status).toBe(201)
    refusedAt(await bear({ email: address(email.maxLength + 1), password: PASSWORD }), 'email')
    for (const length of [password.minLength - 1, password.maxLength + 1]) {
      refusedAt(await bear({ email: longest, password: 'x'.repeat(length) }), 'password')
    }
    const shortest = { email: 'e@example.org', password: 'p?'.repeat(password.minLength / 2) }
    expect((await bear(shortest)).status).toBe(201)
  })

  test('of the key are enforced', async () => {
    const pattern = new RegExp(limits.fields.key.pattern)
    const keys = ['a', 'Z9_.-', 'k'.repeat(100), 'k'.repeat(101), '', 'a b', 'ключ', 'a/b', 'a\n']
    for (const key of keys) {
      const answer = await save({ key })
      if (pattern.test(key)) passes(answer)
      else refusedAt(answer, 'key')
    }
  })

  test('of the beginning of keys are enforced', async () => {
    const pattern = new RegExp(limits.fields.keyPrefix.pattern)
    for (const prefix of ['', 'Z9_.-', 'k'.repeat(100), 'k'.repeat(101), 'a b', 'ключ']) {
      const path = `/api/agents/me/memories?prefix=${encodeURIComponent(prefix)}`
      const answer = await service.call('GET', path, { token })
      if (pattern.test(prefix)) expect(answer.status).toBe(200)
      else expectProblem(answer, 'invalid_query')
    }
  })

  test('of a batch are enforced', async () => {
    const { operations, maxBytes } = limits.batch
    const post = (body: unknown) => service.call('POST', '/api/agents/me/batch', { token, body })
    const reads = (count: number) => ({
      operations: Array(count).fill({ read: { key: 'absent' } }),
    })
    expect((await post(reads(operations))).status).toBe(200)
    refusedAt(await post(reads(operations + 1)), 'operations')
    const text = JSON.stringify(reads(1))
    expect((await post(text.padEnd(maxBytes))).status).toBe(200)
    expectProblem(await post(text.padEnd(maxBytes + 1)), 'body_too_large')
  })

  test('of the text, the metadata and the expected version are enforced', async () => {
    const { text, metadata, expectedVersion } = limits.fields
    passes(await save({ text: 'x'.repeat(text.minLength) }))
    passes(await save({ text: 'x'.repeat(text.maxBytes) }))
    refusedAt(await save({ text: 'x'.repeat(text.minLength - 1) }), 'text')
    expectProblem(await save({ text: 'x'.repeat(text.maxBytes + 1) }), 'text_too_large')
    const sized = (bytes: number) => ({ m: 'x'.repeat(bytes - '{"m":""}'.length) })
    passes(await save({ metadata: sized(metadata.maxBytes) }))
    const tooLarge = await save({ metadata: sized(metadata.maxBytes + 1) })
    expectProblem(tooLarge, 'metadata_too_large')
    passes(await save({ expectedVersion: expectedVersion.maximum }))
    refusedAt(await save({ expectedVersion: expectedVersion.minimum - 1 }), 'expectedVersion')
    refusedAt(await save({ expectedVersion: expectedVersion.maximum + 1 }), 'expectedVersion')
  })

  test('of the body are enforced', async () => {
    const { maxBytes, maxDepth, maxMembers, maxValues } = limits.fields.body
    const text = JSON.stringify({ key: 'absent', text: 'x', expectedVersion: 1 })
    const post = (body: string) => service.call('POST', memoryPath, { token, body })
    passes(await post(text.padEnd(maxBytes)))
    expectProblem(await post(text.padEnd(maxBytes + 1)), 'body_too_large')
    // The body and its metadata are the two levels around it.
    const nested = (levels: number) =>
      JSON.parse(`${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`)
    passes(await save({ metadata: { m: nested(maxDepth) } }))
    expectProblem(await save({ metadata: { m: nested(maxDepth + 1) } }), 'malformed_json')
    // Beside the four of the body itself.
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count - 4 }, (_, n) => [n.toString(36), 1]))
    expectProblem(await save({ metadata: keys(maxMembers) }), 'metadata_too_large')
    expectProblem(await save({ metadata: keys(maxMembers + 1) }), 'malformed_json')
    // Beside the four of the body, the body, its metadata and their list.
    const values = (count: number) => ({ m: Array.from({ length: count - 6 }, () => 0) })
    expectProblem(await save({ metadata: values(maxValues) }), 'metadata_too_large')
    expectProblem(await save({ metadata: values(maxValues + 1) }), 'malformed_json')
    const { maxNumberLength, maxExponentDigits } = limits.fields.body
    const number = (literal: string) => post(text.replace('{', `{"metadata":{"n":${literal}},`))
    passes(await number('1'.repeat(maxNumberLength)))
    expectProblem(await number('1'.repeat(maxNumberLength + 1)), 'malformed_json')
    passes(await number(`1e-${'9'.repeat(maxExponentDigits)}`))
    expectProblem(await number(`1e-${'9'.repeat(maxExponentDigits + 1)}`), 'malformed_json')
  })

  test('of vectors are enforced, and all of them fit in Base64', async () => {
    const { perRequest, maxBytes } = limits.vectors
    const { maxNumbers } = limits.fields.vector
    const vectorOf = (numbers: number) =>
      Buffer.from(new Float32Array(numbers).fill(1).buffer).toString('base64')
    const post = (vectors: number, numbers: number, space = 0) => {
      const vector = vectorOf(numbers)
      const each = { key: 'k'.repeat(100), version: Number.MAX_SAFE_INTEGER, vector }
      const body = { model: 'm'.repeat(100), vectors: Array.from({ length: vectors }, () => each) }
      return service.call('POST', '/api/agents/me/memories/vectors', {
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body) + ' '.repeat(space),
      })
    }
    const most = await post(perRequest, maxNumbers)
    expect(most.body).toMatchObject({ stored: 0, stale: { length: perRequest } })
    refusedAt(await post(perRequest + 1, 1), 'vectors')
    refusedAt(await post(1, maxNumbers + 1), 'vectors/0/vector')
    expectProblem(await post(1, 1, maxBytes), 'body_too_large')
  })

  test('of the answer of a batch is enforced', async () => {
    const { answerBytes } = limits.batch
    const bytes = (length: number) => Buffer.byteLength(JSON.stringify('x'.repeat(length))) + 2
    const { token } = await service.birth()
    await write(service, token, 'whole', 'x'.repeat(16_384))
    const whole = Math.floor(answerBytes / bytes(16_384))
    const rest = answerBytes - whole * bytes(16_384) - bytes(0)
    await write(service, token, 'rest', 'x'.repeat(rest))
    const reading = (...keys: string[]) =>
      service.call('POST', '/api/agents/me/batch', {
        token,
        body: {
          operations: [...Array(whole).fill('whole'), ...keys].map((key) => ({ read: { key } })),
        },
      })
    expect((await reading('rest')).status).toBe(200)
    await write(service, token, 'more', 'x')
    expectProblem(await reading('rest', 'more'), 'answer_too_large')
  })

  test('of what an agent, its operator and an address do at once are enforced', async () => {
    const env = {
      BIRTHS_PER_HOUR_PER_ADDRESS: '0',
      STREAMS_PER_ADDRESS: '3',
      EXPORT_BYTES: '65536',
    }
    const set = await openService(embedded, env)
    const limits = await limitsOf(set)
    expect([limits.streamsPerAddress, limits.transferBytesPerAddress]).toEqual([3, 65_536])
    const serve = (method: string, path: string, options = {}, body?: Readable) =>
      set.app.serve({ ...incomingOf(method, path, options), ...(body && { body }) })
    for (let open = 0; open < limits.streamsPerAddress; open++) {
      expect((await serve('GET', '/api/resonance/stream')).status).toBe(200)
    }
    // Not read, for one that is let in has no end.
    const refused = await serve('GET', '/api/resonance/stream')
    expect(refused).toMatchObject({
      status: 503,
      body: expect.stringContaining('too_many_streams'),
    })

    const { token } = await set.birth()
    for (let sent = 0; sent < limits.atOnce.exports.perAgent; sent++) {
      expect((await serve('GET', '/api/agents/me/export', { token })).status).toBe(200)
    }
    expectProblem(await set.call('GET', '/api/agents/me/export', { token }), 'export_running')

    const path = '/api/agents/me/import'
    const from = '192.0.2.44'
    const bodies: PassThrough[] = []
    const arriving = async ({ operatorToken }: Born, sent: string) => {
      const body = new PassThrough()
      body.write(sent)
      bodies.push(body)
      return serve('POST', path, { token: operatorToken, from, body: {} }, body)
    }
    const first = await set.birth()
    const answers = [arriving(first, '{')]
    const again = { token: first.operatorToken, from, body: '{}' }
    expectProblem(await set.call('POST', path, again), 'import_running')
    for (let under = 1; under < limits.transfersPerAddress; under++) {
      answers.push(arriving(await set.birth(), '{'))
    }
    const late = await set.birth()
    const more = { token: late.operatorToken, from, body: '{}' }
    expectProblem(await set.call('POST', path, more), 'imports_busy')
    // From elsewhere there is room.
    expectProblem(await set.call('POST', path, { ...more, from: '198.51.100.4' }), 'invalid_body')
    for (const body of bodies) body.end('}')
    await Promise.all(answers)
    await set.close()
  })

  test('of rates are an agent’s and its operator’s apart, where they say so', async () => {
    const set = await openService(embedded, {
      READS_PER_MINUTE: '2',
      WRITES_PER_MINUTE: '2',
      EXPORTS_PER_MINUTE: '2',
      CONTROLS_PER_MINUTE: '2',
    })
    const { rates } = await limitsOf(set)
    const { token, operatorToken } = await set.birth()
    const ways: Record<string, (token: string) => Promise<Answer>> = {
      reads: (token) => set.call('GET', '/api/agents/me', { token }),
      writes: (token) => write(set, token, 'absent', 'x', 1),
      exports: (token) => set.call('GET', '/api/agents/me/export', { token }),
      controls: (token) =>
        set.call('PATCH', '/api/agents/me', { token, body: { status: 'active' } }),
    }
    for (const [name, ask] of Object.entries(ways)) {
      const { quota, spentBy } = rates[name as 'reads']
      const spenders: string[] = []
      for (const [who, bearer] of Object.entries({ agent: token, operator: operatorToken })) {
        const statuses: number[] = []
        for (let n = 0; n <= quota; n++) statuses.push((await ask(bearer)).status)
        const refused = statuses.indexOf(429)
        if (refused === quota) spenders.push(who)
        else expect(new Set(statuses)).toEqual(new Set([403]))
      }
      expect(spenders, name).toEqual(spentBy)
    }
    await set.close()
  })

  test('of what is kept follow what was set, and are enforced', async () => {
    const env = {
      BYTES_PER_AGENT: '1048576',
      VERSIONS_PER_MEMORY: '3',
      EVENTS_PER_AGENT: '5',
      MEMORIES_PER_AGENT: '0',
    }
    const set = await openService(embedded, env)
    const { bytesPerAgent, versionsPerMemory, eventsPerAgent } = await limitsOf(set)
    expect([bytesPerAgent, versionsPerMemory, eventsPerAgent]).toEqual([1_048_576, 3, 5])
    const { token } = await set.birth()
    const get = async (path: string) =>
      (await set.call('GET', `/api/agents/me/${path}`, { token })).body
    for (let version = 0; version < 6; version++) await write(set, token, 'plan', 'x', version)
    expect((await get('memory/versions?key=plan')).versions).toHaveLength(versionsPerMemory)
    // Events go some at a time.
    const events = [...Array(200).keys()].map((n) => ({ append: { key: 'log', text: `${n}` } }))
    for (const operations of [events.slice(0, 100), events.slice(100)])
      await set.call('POST', '/api/agents/me/batch', { token, body: { operations } })
    const kept = ((await get('events')).events as { id: number }[]).map(({ id }) => id)
    expect(kept.slice(-eventsPerAgent)).toEqual([202, 203, 204, 205, 206])
    expect(kept.length).toBeLessThan(100)
    let bytes = 'x{}{}'.length + [...Array(200).keys()].join('').length
    for (let n = 0; ; n++) {
      const answer = await write(set, token, `k${n}`, 'x'.repeat(16_384))
      if (answer.status !== 200) {
        expectProblem(answer, 'memory_quota_reached')
        break
      }
      bytes += 16_384 + '{}'.length
    }
    expect(bytes).toBeLessThanOrEqual(bytesPerAgent)
    expect(bytes + 16_384 + '{}'.length).toBeGreaterThan(bytesPerAgent)
    await set.close()
  })

  test('follow what was set, and so does what is enforced', proves('limits.preview'), async () => {
    const env = {
      MEMORIES_PER_AGENT: '2',
      READS_PER_MINUTE: '3',
      WRITES_PER_MINUTE: '4',
      EXPORTS_PER_MINUTE: '2',
      CONTROLS_PER_MINUTE: '3',
      BIRTHS_PER_HOUR_PER_ADDRESS: '2',
      BIRTHS_PER_HOUR: '5',
      OAUTH_PER_MINUTE: '6',
      CLIENT_DOCUMENTS_PER_MINUTE: '7',
      REGISTRATIONS_PER_HOUR_PER_ADDRESS: '8',
      REGISTRATIONS_PER_HOUR: '9',
      FAILURES_PER_MINUTE: '3',
      SIGN_IN_FAILURES_PER_HOUR: '2',
      CONNECTIONS_PER_ADDRESS: '7',
      SIGN_INS_PER_MINUTE: '4',
    }
    const set = await openService(embedded, env)
    const { memoriesPerAgent, connectionsPerAddress, rates } = await limitsOf(set)
    const quotas = Object.values(rates).map(({ quota }) => quota)
    expect([memoriesPerAgent, ...quotas]).toEqual([
      ...[2, 3, 4, 2, 3, 2, 10, 200, 5],
      ...[6, 7, 8, 40, 9],
      ...[3, 2, 100, 3, 4],
    ])
    expect(connectionsPerAddress).toBe(7)

    /** How many are let through before one is refused for their number, and the budget it names. */
    const letThrough = async (ask: (n: number) => Promise<Answer>) => {
      for (let n = 0; ; n++) {
        const { status, headers } = await ask(n)
        if (status === 429) return [n, headers.get('ratelimit-policy')]
      }
    }
    const found = ({ name, quota, windowSeconds }: ReturnType<typeof rate>) => [
      quota,
      `"${name}";q=${quota};w=${windowSeconds}`,
    ]
    const as = {
      token: (await set.birth({ email: 'keeper@example.org', password: PASSWORD })).operatorToken,
    }
    const fresh = (n: number) => ({ key: `k${n}`, text: 'x', expectedVersion: 0 })
    const writes = (n: number) => set.call('POST', memoryPath, { ...as, body: fresh(n) })
    expect(await letThrough(writes)).toEqual([memoriesPerAgent, found(rates.writes)[1]])
    // Those and the refused one were counted: one is left.
    expect((await writes(0)).status).toBe(409)
    expectProblem(await writes(0), 'rate_limited')
    const get = (path: string) => () => set.call('GET', `/api/agents/me${path}`, as)
    expect(await letThrough(get(''))).toEqual(found(rates.reads))
    expect(await letThrough(get('/export'))).toEqual(found(rates.exports))
    const rotate = () => set.call('POST', '/api/agents/me/keys', as)
    expect(await letThrough(rotate)).toEqual(found(rates.controls))
    const guess = () => set.call('GET', '/api/agents/me', { token: 'guess', from: '192.0.2.9' })
    expect(await letThrough(guess)).toEqual(found(rates.failures))
    const signIn = () =>
      set.call('POST', '/console/sign-in', {
        body: new URLSearchParams({ email: 'keeper@example.org', password: 'wrong' }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    expect((await letThrough(signIn))[0]).toBe(rates.signIns.quota)
    const begin = () =>
      set.call('POST', '/console/sign-in', {
        body: new URLSearchParams({ email: 'keeper@example.org', password: PASSWORD }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        from: '198.51.100.8',
      })
    expect(await letThrough(begin)).toEqual(found(rates.sessions))
    const bearFrom = (from: string) => () =>
      set.call('POST', '/api/agents/birth', {
        headers: { 'idempotency-key': freshKey() },
        body: birthBody,
        from,
      })
    expect(await letThrough(bearFrom('192.0.2.1'))).toEqual(found(rates.births))
    // With the one before, these are the five of the service.
    expect(await letThrough(bearFrom('192.0.2.2'))).toEqual([2, found(rates.birthsInAll)[1]])
    await set.close()
  })
})
