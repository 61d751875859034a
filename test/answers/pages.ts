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

/** An answer or a long body that came before is named instead of being written out again. */
export function createPages() {
  const pages: string[] = []
  const titles = new Map<string, number>()
  const placeOf = createPlaces()

  function unique(title: string): string {
    const count = (titles.get(title) ?? 0) + 1
    titles.set(title, count)
    return count > 1 ? `${title} (${count})` : title
  }

  function written({ head, body }: Shown, title: string): string {
    const whole = placeOf(`${head}\n${body}`, title)
    if (whole) return `as for: ${whole}\n`
    const before = body.length > LONG_BODY ? placeOf(body, title) : undefined
    return head + (before ? `\nthe body as for: ${before}\n` : body && `\n${body}\n`)
  }

  return {
    pages,
    write(title: string, asked: string, shown: Shown): void {
      const own = unique(title)
      pages.push(`--- ${own}\n${asked}\n\n${written(shown, own)}`)
    },
    begin: (part: string) => void pages.push(`\n===== ${part}\n`),
  }
}

export type Pages = ReturnType<typeof createPages>
