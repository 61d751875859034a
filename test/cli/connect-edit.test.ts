/** Changes to files of other programs: what they have besides stays, to the byte. */
import fc from 'fast-check'
import { type ParseError, parse, stripComments } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { applied, type Edit, stripped, Unusable } from '../../src/cli/remote/connect/edit.ts'
import { times } from '../effort.ts'
import '../seed.ts'

const item = (capture = '') => ({
  hooks: [{ command: `hook Start --profile codex.atlas${capture}` }],
})

const json = (capture?: string): Edit => ({
  kind: 'json',
  set: [[['servers', 'agent-home'], { command: 'agent-home', args: ['--profile', 'codex.atlas'] }]],
  add: [[['hooks', 'Start'], item(capture)]],
  isOwn: (text) => text.includes('--profile codex.atlas') || text.includes('"codex.atlas"'),
})

const toml: Edit = {
  kind: 'toml',
  path: ['mcp_servers', 'agent-home'],
  table: { command: 'agent-home', args: ['mcp', '--profile', 'codex.atlas'] },
  isOwn: (text) => text.includes('"codex.atlas"'),
}

const read = (text: string): Record<string, Record<string, unknown>> => {
  const errors: ParseError[] = []
  const value = parse(text, errors, { allowTrailingComma: true })
  expect(errors).toEqual([])
  return value
}

describe('JSON', () => {
  test('a second time changes nothing, and an earlier form is replaced', () => {
    const once = applied(json(), '{"a": 1}')
    expect(applied(json(), once)).toBe(once)
    const other = applied(json(' --capture'), once)
    expect(read(other).hooks).toEqual({ Start: [item(' --capture')] })
  })

  test('a comment at the end of a line stays with what it speaks of', () => {
    const text = '{\n  "a": 1, // of a\n  "b": 2 // of b\n}\n'
    const after = applied(json(), text)
    expect(after).toContain('"b": 2 // of b\n')
    expect(after).toContain('"a": 1, // of a\n')
  })

  test('tabs, line ends and a byte order mark are those of the file', () => {
    const after = applied(json(), '\ufeff{\r\n\t"a": 1\r\n}')
    expect(after).toMatch(/^\ufeff\{\r\n\t"a": 1,\r\n\t"servers": \{\r\n\t\t"agent-home"/)
    expect(after.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  test('what somebody else added since stays, and ours goes', () => {
    const before = '{\n  // mine\n  "hooks": {"Start": [{"x": 1}]}\n}'
    const after = applied(json(), before)
    const edited = after.replace('// mine', '// mine\n  "more": true,')
    const left = stripped(json(), edited, before)
    expect(read(left)).toEqual({ more: true, hooks: { Start: [{ x: 1 }] } })
    expect(left).toContain('// mine\n')
  })

  test('a server that was there under our name comes back', () => {
    const before = '{"servers": {"agent-home": {"url": "http://home"}}}'
    const edited = applied(json(), before).replace('{', '{"more": 1,')
    expect(read(stripped(json(), edited, before))).toEqual({ more: 1, ...read(before) })
  })

  test.each([
    ...['{', '[]', '"text"', '{"hooks": []}', '{"hooks": {"Start": {}}}', '{"servers": 1}'],
    ...['{"a": }', '{"servers": {}, "servers": {}}', 'null'],
  ])('%s is not changed', (text) => {
    expect(() => applied(json(), text)).toThrow(Unusable)
  })

  test('nothing else changes, whatever is there: another’s change can be taken back too', () => {
    const name = fc.constantFrom('a', 'servers', 'hooks', 'Start', 'agent-home2', 'ключ', '__x')
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        ...[fc.integer(), fc.string(), fc.constant(null), fc.array(tie('any'), { maxLength: 3 })],
        fc.dictionary(name, tie('any'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).any
    const file = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true })
    const indents = fc.constantFrom(undefined, 2, 4, '\t')
    const ends = fc.constantFrom('\n', '\r\n')
    fc.assert(
      fc.property(file, indents, ends, fc.boolean(), (content, indent, end, comments) => {
        const plain = JSON.stringify(content, null, indent)
        const lines = plain.split('\n').map((each, n) => (comments ? `${each} // ${n}` : each))
        const text = lines.join(end) + (comments ? end : '')
        let after: string
        try {
          after = applied(json(), text)
        } catch (error) {
          expect(error).toBeInstanceOf(Unusable)
          return
        }
        expect(applied(json(), after)).toBe(after)
        const { servers, hooks } = read(after)
        expect(servers?.['agent-home']).toEqual(json().kind === 'json' && servers?.['agent-home'])
        expect(hooks?.Start).toContainEqual(item())
        expect(read(stripped(json(), after, text))).toEqual(content)
        if (!comments) return
        for (const n of lines.keys()) expect(after).toContain(` // ${n}${end}`)
        expect(stripComments(after)).not.toContain('//')
      }),
      { numRuns: times(2_000) },
    )
  })
})

describe('TOML', () => {
  test.each([
    '',
    'a = 1',
    '# mine\r\n[b]\r\nc = 2\r\n',
    '\ufeffa = 1\n',
    '[mcp_servers.x]\nurl = "y"\n',
  ])('the table is added at the end, and taken out: %j', (text) => {
    const after = applied(toml, text)
    expect(after.startsWith(text)).toBe(true)
    expect(parseToml(after.replace('\ufeff', '')).mcp_servers).toMatchObject({
      'agent-home': { command: 'agent-home', args: ['mcp', '--profile', 'codex.atlas'] },
    })
    expect(applied(toml, after)).toBe(after)
    const edited = `${after}[later]\nd = 3\n`
    const newline = text.endsWith('\n') || text === '' ? '' : '\n'
    expect(stripped(toml, edited, text)).toBe(`${text}${newline}[later]\nd = 3\n`)
  })

  test('it is found again where the program moved comments and wrote below it', () => {
    const moved = `a = 1

[mcp_servers.agent-home]
command = "agent-home"
args = ["mcp", "--profile", "codex.atlas"]
[mcp_servers.agent-home.tools.write_memory]
approval_mode = "approve"

# of the other
[mcp_servers.other]
command = "echo"
# Written by agent-home connect, which takes it out with --remove.
`
    expect(applied(toml, moved)).toBe(moved)
    expect(stripped(toml, moved, 'a = 1\n')).toBe(
      'a = 1\n\n\n# of the other\n[mcp_servers.other]\ncommand = "echo"\n',
    )
  })

  test('another form of our table is replaced, and somebody else’s is left', () => {
    const older = applied(
      { ...toml, table: { command: 'x', args: ['codex.atlas'] } } as Edit,
      'a = 1\n',
    )
    expect(applied(toml, older)).toBe(applied(toml, 'a = 1\n'))
    const other = '[mcp_servers.agent-home]\nurl = "x"\n'
    expect(stripped(toml, other, '')).toBe(other)
    const inline = 'mcp_servers.agent-home = {args = ["codex.atlas"]}\n'
    expect(() => stripped(toml, inline, '')).toThrow(Unusable)
  })
})
