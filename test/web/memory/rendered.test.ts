/** A text as it is meant: whatever an agent wrote, nothing in it reaches anybody. */
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { compact } from '../../../src/json/members.ts'
import { markdownHtml } from '../../../src/web/console/memory/markdown.ts'
import { prettyJson, rendered, textView } from '../../../src/web/console/memory/rendered.ts'
import { openCounted } from '../../counted.ts'
import { growth, NOT_QUADRATIC } from '../../growth.ts'
import { escaped, linksIn } from '../markup.ts'

const counted = openCounted<typeof import('../../../src/web/console/memory/rendered.ts')>(
  import.meta.resolve('../../../src/web/console/memory/rendered.ts'),
)
afterAll(() => counted.close())

/** Of one text. The worst takes 1,000,000. */
const MOST_STEPS = 2_000_000

const shown = async (text: string): Promise<string> => String(await rendered(text))

describe('markdown', async () => {
  test('is shown as such', async () => {
    const page = await shown('# Plan\n\n- **one**\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n')
    expect(page).toContain('<h2>Plan</h2>')
    expect(page).toContain('<li><strong>one</strong></li>')
    expect(page).toContain('<td>2</td>')
  })

  test.each([
    '# x\n\n<script>alert(1)</script>',
    '# x\n\n<img src=x onerror=alert(1)>',
    '- a\n\n<b onclick="x">b</b>',
    '# <svg/onload=alert(1)>',
    '```"><script>\nx\n```',
    '```html onload="x"\n</code></pre><script>\n```',
    '[x](<"onmouseover=alert(1)>) `a`',
    '[a](https://a.example/"><script>)',
    '# x\n\n![" onerror="x](https://a.example/x.png "t\\" onload=\\"x")',
  ])('holds no markup of its own: %j', async (text) => {
    const page = await shown(text)
    expect(
      page.replace(/<\/?(h[2-6]|p|ul|ol|li|strong|em|code|pre|blockquote|div|br|hr)>/g, ''),
    ).not.toMatch(
      /<(?!a href="[^"<>]*" rel="noreferrer nofollow">|\/a>|div class="text rendered" dir="auto">)/,
    )
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '&#106;avascript:alert(1)',
    'vbscript:x',
    'data:text/html;base64,PHNjcmlwdD4=',
    'file:///etc/passwd',
    '/console',
    '//evil.example',
    '#main',
    '?status=paused',
  ])('links to nowhere but http, https and mailto: not to %j', async (url) => {
    expect(linksIn(await shown(`# x\n\n[a](${url}) ![b](${url}) <${url}>`))).toEqual([])
  })

  test('a link tells nobody where it came from', async () => {
    expect(await shown('- [a](https://a.example/x?y=1&z=2) [b](mailto:a@b.example)')).toContain(
      '<a href="https://a.example/x?y=1&amp;z=2" rel="noreferrer nofollow">a</a> <a href="mailto:a@b.example" rel="noreferrer nofollow">b</a>',
    )
  })

  test('a picture is its description with a link, and no link within another', async () => {
    const picture = await shown('# x\n\n![A map](https://a.example/map.png)')
    expect(picture).toContain(
      '<a href="https://a.example/map.png" rel="noreferrer nofollow">A map</a>',
    )
    expect(picture).not.toContain('<img')
    const within = await shown('# x\n\n[![A map](https://a.example/m.png)](https://b.example)')
    expect(within).toContain('<a href="https://b.example" rel="noreferrer nofollow">A map</a>')
  })

  test('a link without words is named by its address', async () => {
    expect(await shown('- [](https://a.example)')).toContain('>https://a.example</a>')
  })

  test('headings leave no step out, wherever they begin', async () => {
    const page = await shown('### a\n\n# b\n\n###### c\n')
    expect([...page.matchAll(/<h(\d)>/g)].map(([, level]) => level)).toEqual(['2', '2', '3'])
    expect([...page.matchAll(/<\/h(\d)>/g)].map(([, level]) => level)).toEqual(['2', '2', '3'])
  })

  const fill = (pattern: string, length = 16_384) =>
    pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length)

  const patterns = [
    '[',
    '[a](',
    '![',
    '*',
    '*a ',
    '_a __b ',
    '`',
    '>',
    '> ',
    '>\n',
    '- ',
    '|a',
    '~~a',
    '\\',
    '<',
    '<a ',
    '&',
    '[x*_`![](<',
    '[a](b)',
    '![a](b)',
    '***a** b* ',
    '- - - a\n',
    '1. a\n',
    '[a]: b\n',
    'a\n',
    'a\n=\n',
    'a|b\n',
    '<!--',
    '    a\n',
    '```\n',
    '> > > > a\n',
    '(',
    '\n',
  ]

  test.each(
    [
      ...patterns.flatMap((each) => [2_400, 16_384].map((length) => fill(each, length))),
      `${fill('|a', 1_000)}\n${fill('|-', 1_000)}\n${fill('|\n', 1_000)}`,
      `${fill('|a', 60)}\n${fill('|-', 60)}\n${fill('|\n', 380)}`,
      Array.from({ length: 150 }, (_, n) => `${' '.repeat(n)}- a`).join('\n'),
      Array.from({ length: 990 }, (_, n) => `[a${n}]: /`).join('\n'),
      `${fill('>', 1_200)}\n${fill('a\n', 1_900)}`,
    ].map((text) => [text.slice(0, 12), text]),
  )('the worst of 16 KiB is rendered soon, or shown as its source: %j', async (_, text) => {
    const steps = await counted.steps('rendered', `# x\n${text}`)
    expect(steps).toBeGreaterThan(0)
    expect(steps).toBeLessThan(MOST_STEPS)
    expect(((await markdownHtml(text)) ?? '').length).toBeLessThan(262_144)
  })

  /** As long as it is still rendered; or, where none is, as it is shown as its source. */
  async function longest(pattern: string): Promise<[pattern: string, length: number]> {
    for (const length of [16_384, 2_400]) {
      if ((await markdownHtml(`# x\n${fill(pattern, length)}`)) !== undefined)
        return [pattern, length]
    }
    return [pattern, 16_384]
  }

  // Of regular expressions, which take no steps that could be counted.
  test.each(await Promise.all(patterns.map(longest)))(
    'four times the text is no more than a few times the work: %j to %i characters',
    async (pattern, length) => {
      const [smaller, larger] = [fill(pattern, length / 4), fill(pattern, length)]
      const grown = await growth(
        () => rendered(`# x\n${smaller}`),
        () => rendered(`# x\n${larger}`),
      )
      expect(grown).toBeLessThan(NOT_QUADRATIC)
    },
  )
})

describe('JSON', () => {
  test('is set out in lines, with every digit and in its order', () => {
    expect(prettyJson('{"b":9007199254740993,"a":[1.50,-0,{}],"c":"x, {y}: [\\"z\\"]"}')).toBe(
      '{\n  "b": 9007199254740993,\n  "a": [\n    1.50,\n    -0,\n    {}\n  ],\n  "c": "x, {y}: [\\"z\\"]"\n}',
    )
  })

  test('is the same without the space', () => {
    fc.assert(
      fc.property(fc.object(), (value) => {
        const json = JSON.stringify(value)
        expect(compact(prettyJson(json) ?? '')).toBe(json)
        expect(compact(prettyJson(JSON.stringify(value, null, '\t')) ?? '')).toBe(json)
      }),
    )
  })

  test.each(['{"a":1', '"text"', '1', '{a:1}', '[1,]', `${'['.repeat(8_000)}${']'.repeat(8_000)}`])(
    'is no such text: %#',
    (text) => {
      expect(prettyJson(text)).toBeUndefined()
    },
  )

  test('that would become too long is shown as it stands', async () => {
    const text = `${'['.repeat(30)}${'1,'.repeat(8_000)}1${']'.repeat(30)}`
    expect(prettyJson(text)).toBeUndefined()
    expect(await shown(text)).toContain(`>${text}</pre>`)
  })
})

describe('everything else', () => {
  test.each([
    'plain\n  and indented\n\n\n',
    '</pre><script>x</script>',
    'שלום <b>عالم</b> \u202e',
    'x'.repeat(16_384),
  ])('stands as it is: %#', async (text) => {
    expect(await shown(text)).toContain(`>${escaped(text)}</pre>`)
    expect(await shown(text)).toContain('dir="auto"')
  })
})

describe('the switch', () => {
  const view = async (text: string, as?: 'source') => String(await textView(text, as, '/m?key=k'))

  test('leads from one to the other, by an address of its own', async () => {
    expect(linksIn(await view('# x'))).toEqual(['/m?key=k', '/m?key=k&as=source'])
    expect(await view('# x')).toContain('<h2>x</h2>')
    expect(await view('# x', 'source')).toContain('># x</pre>')
  })

  test('is left out where there is nothing to switch', async () => {
    expect(await view('plain')).not.toContain('<nav')
  })
})

describe('a long text', () => {
  const view = async (text: string) => String(await textView(text, undefined, '/m?key=k'))
  const folds = async (text: string) => (await view(text)).includes('<details class="all"')

  test.each([
    ['many lines', 'x\n'.repeat(37)],
    ['one long line', 'word '.repeat(501)],
    ['many lines once its JSON is set out', JSON.stringify(Array(40).fill(1))],
    ['a long list', '- x\n'.repeat(37)],
  ])('of %s is unfolded at one press, and all of it is there', async (_, text) => {
    expect(await folds(text)).toBe(true)
  })

  test.each(['x\n'.repeat(36).trim(), 'x'.repeat(2_500), '# x'])(
    'is none that leaves what is below it in sight: %#',
    async (text) => {
      expect(await folds(text)).toBe(false)
    },
  )

  test('says how long it is, in bytes', async () => {
    expect(await view('щ'.repeat(2_560))).toContain('Show all 5 KiB')
    expect(await view('щ'.repeat(2_560))).toContain('щ'.repeat(2_560))
  })
})
