/** The recording of a scene, page after page. */
import type { Shown } from './page.ts'

/** Remembers where each text stood first. */
function createPlaces() {
  const places = new Map<string, string>()
  return (text: string, place: string): string | undefined => {
    const before = places.get(text)
    if (before === undefined) places.set(text, place)
    return before
  }
}

/** Shorter ones are read sooner than looked up. */
const LONG_BODY = 80
const LONG_BLOCK = 10

const titleOf = (title: string, asked: string): string =>
  `${title}, ${asked.split(/\n| \| /)[0]?.replace('> ', '')}`

/** What came before is named instead of being written out again: answers, bodies, parts of pages. */
export function createPages() {
  const pages: string[] = []
  const placeOf = createPlaces()

  /** Blocks that stood before are named in one line. */
  function blocksOf(body: string, title: string): string {
    const lines: string[] = []
    let named: string[] = []
    const endNamed = () => {
      if (named.length > 0) lines.push(`… as for: ${[...new Set(named)].join('; ')}`)
      named = []
    }
    for (const block of body.split('\n\n')) {
      const before = block.length > LONG_BLOCK ? placeOf(block, title) : undefined
      if (before && before !== title) named.push(before)
      else {
        endNamed()
        lines.push(block)
      }
    }
    endNamed()
    return lines.join('\n')
  }

  function written({ head, body }: Shown, title: string): string {
    const whole = placeOf(`${head}\n${body}`, title)
    if (whole) return `… as for: ${whole}`
    const before = body.length > LONG_BODY ? placeOf(body, title) : undefined
    if (before) return `${head}\nthe body as for: ${before}`
    return head + (body && `\n${blocksOf(body, title)}`)
  }

  return {
    pages,
    write(title: string, asked: string, shown: Shown): void {
      const answered = written(shown, titleOf(title, asked))
      const isShort = !`${asked}${answered}`.includes('\n')
      pages.push(`--- ${title} ${asked}${isShort ? ' ' : '\n'}${answered}`)
    },
    begin: (part: string) => void pages.push(`\n===== ${part}\n`),
  }
}

export type Pages = ReturnType<typeof createPages>
