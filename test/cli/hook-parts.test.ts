/** What `agent-home hook` is made of. */
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  CAPTURED,
  cut,
  MAX_PIECE_BYTES,
  MAX_TOOL_CHARS,
  piecesOf,
  shortened,
} from '../../src/cli/remote/hook/capture.ts'
import {
  clearTroubles,
  MAX_LOG_BYTES,
  readTroubles,
  recordTrouble,
} from '../../src/cli/remote/hook/log.ts'
import { payloadIn } from '../../src/cli/remote/hook/program-events.ts'
import { HookHome, isGood, recallStart, tellingWords } from '../../src/cli/remote/hook/recall.ts'
import { repositoryOf } from '../../src/cli/remote/hook/repository.ts'
import { REDACTED, withoutSecrets } from '../../src/cli/remote/hook/secrets.ts'
import {
  readState,
  saveState,
  stateFile,
  sweepStates,
} from '../../src/cli/remote/hook/session-state.ts'
import {
  claudeLine,
  codexLine,
  geminiLine,
  type ReadLine,
  turnsIn,
} from '../../src/cli/remote/hook/transcripts.ts'
import { growth, NOT_QUADRATIC } from '../growth.ts'
import { freshFolder, removeFolders } from './sync.ts'

let config: string
beforeEach(() => {
  config = freshFolder()
  vi.stubEnv('XDG_CONFIG_HOME', config)
})
afterEach(() => {
  vi.unstubAllEnvs()
})
afterAll(removeFolders)

describe('the log', () => {
  const trouble = (message: string) => ({ at: 'now', client: 'codex', event: 'Stop', message })

  test('has each trouble once, oldest first, and is cleared', () => {
    for (const message of ['one', 'two', 'one']) recordTrouble(trouble(message))
    expect(readTroubles()).toEqual([trouble('one'), trouble('two')])
    expect(statSync(join(config, 'agent-home/hooks.log')).mode & 0o777).toBe(0o600)
    clearTroubles()
    expect(readTroubles()).toEqual([])
  })

  test('is bounded: the oldest go, and no message is long', () => {
    const message = (n: number) => `${n} ${'x'.repeat(1_000)}`
    for (let n = 0; n < 200; n++) {
      recordTrouble(trouble(message(n)))
      const { size } = statSync(join(config, 'agent-home/hooks.log'))
      expect(size).toBeLessThanOrEqual(MAX_LOG_BYTES)
    }
    const kept = readTroubles().map((each) => Number.parseInt(each.message, 10))
    expect(kept.length).toBeGreaterThan(40)
    expect(kept).toEqual(kept.map((_, place) => 200 - kept.length + place))
  })

  test('skips what two writers broke', () => {
    recordTrouble(trouble('one'))
    writeFileSync(join(config, 'agent-home/hooks.log'), '{"at":"x{"at"\n', { flag: 'a' })
    recordTrouble(trouble('two'))
    expect(readTroubles().map(({ message }) => message)).toEqual(['one', 'two'])
  })
})

describe('the state of a session', () => {
  test('is remembered, bounded, and nothing if it is damaged', () => {
    const path = stateFile('codex', 'one')
    expect(readState(path)).toEqual({ given: [], parts: 0, pieces: 0 })
    const given = Array.from({ length: 600 }, (_, n) => `k@${n}`)
    saveState(path, { given, parts: 3, pieces: 2 })
    expect(readState(path)).toEqual({ given: given.slice(-500), parts: 3, pieces: 2 })
    expect(stateFile('codex', 'two')).not.toBe(path)
    writeFileSync(path, '{"given":7,"parts":-1}')
    expect(readState(path)).toEqual({ given: [], parts: 0, pieces: 0 })
  })

  test('is swept when it is old, or one of too many', () => {
    const now = Date.UTC(2027, 0, 31)
    const days = (path: string, n: number) =>
      utimesSync(path, now / 1_000, now / 1_000 - n * 86_400)
    const paths = Array.from({ length: 503 }, (_, n) => stateFile(`${n}`))
    for (const [n, path] of paths.entries()) {
      saveState(path, { given: [], parts: 0, pieces: 0 })
      days(path, n === 502 ? 31 : n / 100)
    }
    sweepStates(now)
    const left = readdirSync(join(config, 'agent-home/hooks'))
    expect(left).toHaveLength(500)
    for (const gone of paths.slice(500)) expect(left).not.toContain(gone.split('/').at(-1))
  })
})

describe('secrets', () => {
  const key = 'x'.repeat(40)
  const secrets = [
    `aha_${'A1'.repeat(24)}z`,
    `aho_${'A1'.repeat(24)}z`,
    `ghp_${'a1'.repeat(18)}`,
    `github_pat_${'a1'.repeat(20)}`,
    `glpat-${'a1'.repeat(10)}`,
    'AKIAIOSFODNN7EXAMPLE',
    `sk-ant-api03-${'a1'.repeat(20)}`,
    `sk-proj-${'a1'.repeat(20)}`,
    `sk_live_${'a1'.repeat(12)}`,
    `AIza${'a1'.repeat(17)}b`,
    `xoxb-${'1'.repeat(12)}-abc`,
    `npm_${'a1'.repeat(18)}`,
    `eyJ${'a1'.repeat(10)}.eyJ${'b2'.repeat(10)}.${'c3'.repeat(10)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${key}\n${key}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${key}`,
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n${key}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${key}\n-----END PGP PRIVATE KEY BLOCK-----`,
  ]

  test.each(secrets)('%s is replaced by a mark', (secret) => {
    const clean = withoutSecrets(`before ${secret} after`)
    expect(clean).toMatch(/^before \[secret removed\]( after)?$/)
  })

  test('are replaced behind their names, which stay', () => {
    const rows = {
      'DB_PASSWORD=hunter2hunter2': `DB_PASSWORD=${REDACTED}`,
      '"api_key": "abcd1234abcd"': `"api_key": "${REDACTED}"`,
      'Authorization: Bearer abcdefgh1234': `Authorization: Bearer ${REDACTED}`,
      'postgres://ann:p4ssw0rd@db.example/x': `postgres://ann:${REDACTED}@db.example/x`,
      'mysql://root:a/b1secret@h': `mysql://root:${REDACTED}@h`,
      'https://user:p@ss/word@h': `https://user:${REDACTED}@h`,
      'x-api-key: 0123456789abcdef0123456789abcdef': `x-api-key: ${REDACTED}`,
      'API-KEY=0123456789abcdef': `API-KEY=${REDACTED}`,
      'password=p@ssw0rd!long1': `password=${REDACTED}`,
      'password: "correct horse 9 battery"': `password: "${REDACTED}"`,
      "password: 'correct horse 9 battery'": `password: '${REDACTED}'`,
      '{"text":"password: \\"correct horse 9\\"\\nPORT=4310"}': `{"text":"password: \\"${REDACTED}\\"\\nPORT=4310"}`,
      '"DB_PASS=s3cret-word\\nPORT=4310"': `"DB_PASS=${REDACTED}\\nPORT=4310"`,
      'pwd=s3cret-word': `pwd=${REDACTED}`,
      'PASSPHRASE=s3cret-word': `PASSPHRASE=${REDACTED}`,
      'curl -u admin:S3cretPass99 https://h': `curl -u admin:${REDACTED} https://h`,
      'secret_key="-----BEGIN PRIVATE KEY-----\nMIIE1234"': `secret_key="${REDACTED}`,
    }
    for (const [text, left] of Object.entries(rows)) expect(withoutSecrets(text)).toBe(left)
  })

  test.each([
    'const token = await tokenFrom2(kind, secret)\nThe secret: nobody knows.',
    'See https://a.example:8080/b@c, task-force-1234567890123456.',
    'password: string, token: Promise<Uint8Array>, secret = base64Of(key2)',
    'const pass = await x()\nconst pwd = sha256(text)\nif (password === other2Password) pass(1)',
    'cd /srv && pwd\nPWD=/home/user2/project\nOLDPWD=/home/user2',
    `password=$DB_PASSWORD_2 token=\${TOKEN_FILE_2} secret: /^[a-z0-9]{8,}$/`,
    `http://localhost:\${port}/@fs/x http://h:PORT/a@b git+ssh://git@h:owner/repo1@v1`,
    'The token: https://docs.example.com/v2/tokens explains it; mail a1@b.example: it passed.',
    'docker run -u 1000:1000 x, and curl -u admin:$PASSWORD https://h, and "password": "Your password"',
  ])('code and prose stay as they are: %s', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })

  const pieces = ['a', 'password', 'sk-', '-----BEGIN PRIVATE KEY-----', 'a://a:']
  const named = ['password="1', 'pass=1', 'pwd:\\"1', 'curl -u a:', 'curl \\\n', 'a://a:a@']
  test.each([...pieces, ...named, 'eyJaaaaaaaaaa.', 'eyJaaaaaaaaaa-'])(
    'take time in proportion to the text: %s',
    async (piece) => {
      const work = (times: number) => {
        const text = piece.repeat(times)
        return () => withoutSecrets(text)
      }
      expect(await growth(work(5_000), work(20_000))).toBeLessThan(NOT_QUADRATIC)
    },
  )
})

describe('what comes from outside takes time in proportion to it', () => {
  const grows = (work: (times: number) => () => unknown) => growth(work(10_000), work(40_000))

  test.each(['<hook_context>', '<session_context>'])('%s that is never closed', async (opening) => {
    const prompt = (times: number) => {
      const text = JSON.stringify({ prompt: opening.repeat(times) })
      return () => payloadIn(text)
    }
    const message = (times: number) => {
      const line = { id: '1', type: 'user', content: [{ text: opening.repeat(times) }] }
      return () => geminiLine(line, () => true)
    }
    expect(await grows(prompt)).toBeLessThan(NOT_QUADRATIC)
    expect(await grows(message)).toBeLessThan(NOT_QUADRATIC)
  })

  test.each([
    ['name', (times: number) => `${'a'.repeat(times)}:`],
    ['spaces', (times: number) => `${' '.repeat(times)}\r`],
  ])('the address of a remote: %s', async (_name, address) => {
    const work = (times: number) => {
      const directory = freshFolder()
      mkdirSync(join(directory, '.git'))
      writeFileSync(join(directory, '.git/config'), `[remote "origin"]\nurl =${address(times)}`)
      return () => repositoryOf(directory)
    }
    expect(await grows(work)).toBeLessThan(NOT_QUADRATIC)
  })

  test('a memory with a mark that is cut off', async () => {
    class Home extends HookHome {
      readonly text: string
      constructor(text: string) {
        super({ url: 'http://home.example', token: 't' })
        this.text = text
      }
      override async wake() {
        const item = { key: 'k', version: 1, updatedAt: '2027-01-31', text: this.text }
        return { pinned: [item], found: [], changes: [], leftOut: { pinned: 0 } }
      }
    }
    const work = (times: number) => {
      const home = new Home(`<${' '.repeat(times)}x`)
      const repository = { name: 'atlas' }
      return () => recallStart(home, { prefix: '', repository }, new AbortController().signal)
    }
    expect(await grows(work)).toBeLessThan(NOT_QUADRATIC)
  })
})

test.each([
  ['git@host.example:owner/atlas.git', 'atlas'],
  ['https://host.example/owner/atlas/', 'atlas'],
  ['../atlas.git/', 'atlas'],
  ['C:\\work\\atlas', 'atlas'],
])('the repository of %s is named %s', (address, name) => {
  const directory = freshFolder()
  mkdirSync(join(directory, '.git'))
  writeFileSync(join(directory, '.git/config'), `[remote "origin"]\n\turl = ${address}\r\n`)
  expect(repositoryOf(directory).name).toBe(name)
})

describe('pieces', () => {
  test('a text is cut between characters, and nothing of it is lost', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const parts = cut(text, 16)
        expect(parts.join('')).toBe(text)
        for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(16)
      }),
    )
  })

  test('hold every part once, in order, from wherever one goes on', () => {
    const part = fc
      .integer({ min: 1, max: MAX_PIECE_BYTES })
      .map((size) => 'ü'.repeat(size / 2) || 'x')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.nat(12), (parts, from) => {
        const pieces = piecesOf(parts, from)
        expect(pieces.map(({ text }) => text).join('')).toBe(parts.slice(from).join(''))
        for (const { text, end } of pieces) {
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_PIECE_BYTES)
          expect(piecesOf(parts, end)).toEqual(
            pieces.slice(pieces.findIndex((p) => p.end === end) + 1),
          )
        }
      }),
    )
  })

  test('what a tool gave is cut in the middle, with a mark', () => {
    const whole = `${'a'.repeat(MAX_TOOL_CHARS / 2)}middle${'z'.repeat(MAX_TOOL_CHARS / 2)}`
    expect(shortened(whole.slice(6))).toBe(whole.slice(6))
    expect(shortened(whole)).toBe(whole.replace('middle', '\n[6 characters removed]\n'))
    expect(shortened(`${'😀'.repeat(999)}x${'😀'.repeat(999)}`).isWellFormed()).toBe(true)
  })

  test('have keys that tell them from other memories', () => {
    expect(CAPTURED.test('atlas.sessions.2026-11-28.55fb5ad645c7.0001')).toBe(true)
    expect(CAPTURED.test('sessions.2026-11-28.55fb5ad645c7.12345')).toBe(true)
    for (const key of ['sessions.notes', 'mysessions.2026-11-28.55fb5ad645c7.0001'])
      expect(CAPTURED.test(key)).toBe(false)
  })
})

describe('transcripts', () => {
  const fixture = (name: string) => join(import.meta.dirname, 'hooks', name, 'transcript.jsonl')
  const formats: [string, ReadLine, string, string][] = [
    ['claude', claudeLine, 'Bash {"command":"echo harbour-output"}', 'harbour-output'],
    ['codex', codexLine, 'exec_command {"cmd":"echo harbour-output"}', 'Output:\nharbour-output'],
    ['gemini', geminiLine, 'run_shell_command {"command":"echo harbour-output"}', 'harbour-output'],
  ]

  test.each(formats)('of %s: what was said, in order, each once', (name, read, call, output) => {
    const turns = turnsIn(fixture(name), read, () => false)
    expect(turns.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Please use the tool to say harbour'],
      ['tool call', call],
      ['tool output', expect.stringContaining(output)],
      ['assistant', 'The harbour is blue.'],
      ['user', 'What colour is it?'],
      ['assistant', 'The harbour is blue.'],
    ])
    for (const { at } of turns) expect(at).toMatch(/^\d{4}-\d\d-\d\dT/)
  })

  test.each(formats)('of %s only grow: what was read stays the same', (name, read) => {
    const lines = readFileSync(fixture(name), 'utf8').split(/(?<=\n)/)
    const path = join(freshFolder(), 'growing.jsonl')
    const whole = turnsIn(fixture(name), read, () => false)
    for (let end = 0; end <= lines.length; end++) {
      // The last line is half written.
      writeFileSync(path, lines.slice(0, end).join('') + (lines[end] ?? '').slice(0, 40))
      const turns = turnsIn(path, read, () => false)
      expect(turns).toEqual(whole.slice(0, turns.length))
    }
    expect(turnsIn(path, read, () => false)).toEqual(whole)
  })

  test.each(formats)('of %s leave out what hooks put in', (name, read) => {
    const mark = 'from the hook'
    const lines = {
      claude: [{ type: 'attachment', attachment: { content: [mark] } }],
      codex: [
        {
          type: 'response_item',
          payload: { type: 'message', role: 'developer', content: [{ text: mark }] },
        },
      ],
      gemini: [
        { id: '1', type: 'user', content: [{ text: `<hook_context>${mark}</hook_context>` }] },
        {
          id: '2',
          type: 'user',
          displayContent: [{ text: `<hook_context>${mark}</hook_context>\n\nHi` }],
        },
      ],
    }[name]
    const said = lines?.flatMap((line) => read(line, () => true)) ?? []
    expect(said.map(({ text }) => text)).toEqual(name === 'gemini' ? ['Hi'] : [])
  })

  test('lines that are no turns, or no JSON, are passed over', () => {
    const path = join(freshFolder(), 'odd.jsonl')
    writeFileSync(path, 'no JSON\n[]\nnull\n7\n{"type":"user"}\n{"type":"response_item"}\n')
    for (const [, read] of formats) expect(turnsIn(path, read, () => false)).toEqual([])
  })

  test('are read in pieces, for as long as there is time', () => {
    const path = join(freshFolder(), 'long.jsonl')
    const line = (n: number) =>
      JSON.stringify({
        type: 'user',
        uuid: `${n}`,
        message: { content: `${n} ${'ü'.repeat(300_000)}` },
      })
    writeFileSync(path, `${[0, 1, 2, 3].map(line).join('\n')}\n`)
    const turns = turnsIn(path, claudeLine, () => false)
    expect(turns.map(({ text }) => [text.slice(0, 3), text.length])).toEqual(
      [0, 1, 2, 3].map((n) => [`${n} ü`, 300_002]),
    )
    let asked = 0
    expect(turnsIn(path, claudeLine, () => ++asked > 2)).toEqual(turns.slice(0, 2))
  })
})

describe('what is good enough to say', () => {
  const asks = (prompt: string, matched: string[]) => isGood(matched, tellingWords(prompt))

  test('has two telling words of a short prompt, and more of a longer one', () => {
    expect(asks('why advisory locks?', ['advisory', 'locks'])).toBe(true)
    expect(asks('why advisory locks?', ['locks'])).toBe(false)
    const longer = 'please explain why advisory locks make queries slow for customers in Norway'
    expect(asks(longer, ['advisory', 'locks'])).toBe(false)
    expect(asks(longer, ['advisory', 'locks', 'customer', 'queries'])).toBe(true)
  })

  test('short words, numbers and inflections of one word do not count', () => {
    expect(asks('run the test at 8080', ['run', 'the', '8080', 'test'])).toBe(false)
    expect(asks('migration', ['migration', 'migrations', 'migrate'])).toBe(false)
    expect(asks('メモリー の 場所', ['メモリー', '場所'])).toBe(true)
  })
})
