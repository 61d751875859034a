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
const LONG_BODY = 150
const LONG_BLOCK = 40

const titleOf = (title: string, asked: string): string =>
  `${title}, ${asked.split('\n')[0]?.replace('> ', '')}`

/** What came before is named instead of being written out again: answers, bodies, parts of pages. */
export function createPages() {
  const pages: string[] = []
  const placeOf = createPlaces()

  function shownBlock(block: string, title: string): string {
    const before = block.length > LONG_BLOCK ? placeOf(block, title) : undefined
    return before && before !== title ? `… as for: ${before}` : block
  }

  function written({ head, body }: Shown, title: string): string {
    const whole = placeOf(`${head}\n${body}`, title)
    if (whole) return `as for: ${whole}\n`
    const before = body.length > LONG_BODY ? placeOf(body, title) : undefined
    if (before) return `${head}\nthe body as for: ${before}\n`
    const blocks = body.split('\n\n').map((block) => shownBlock(block, title))
    return head + (body && `\n\n${blocks.join('\n\n')}\n`)
  }

  return {
    pages,
    write(title: string, asked: string, shown: Shown): void {
      pages.push(`--- ${title}\n${asked}\n\n${written(shown, titleOf(title, asked))}`)
    },
    begin: (part: string) => void pages.push(`\n===== ${part}\n`),
  }
}

export type Pages = ReturnType<typeof createPages>
