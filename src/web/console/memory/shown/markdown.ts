/** Which texts are Markdown, and what becomes of those that can be rendered in a bounded time. */
import { lazily } from '../../../../lazily.ts'

/** Marks, lines and cells of tables: what rendering takes most time over. The worst 16 KiB took 290 ms. */
const MOST_MARKS = 2_500
const MOST_LINES = 1_000
const MOST_CELLS = 6_000

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

function isBounded(text: string): boolean {
  const lines = text.split('\n')
  const columns = lines.reduce((most, line) => Math.max(most, count(line, /\|/g)), 0)
  return (
    lines.length <= MOST_LINES &&
    columns * lines.length <= MOST_CELLS &&
    count(text, /[[\]!*_`|~<>&\\()]/g) <= MOST_MARKS
  )
}

const BLOCK = /^ {0,3}(#{1,6} \S|[-*+] \S|\d{1,9}[.)] \S|> ?\S|```|~~~|\|.*\||(---|\*\*\*)\s*$)/m
const INLINE = /\*\*\S[^\n*]*\*\*|`[^`\n]+`|!?\[[^\][\n]+\]\([^()\s]+\)/

export const looksLikeMarkdown = (text: string): boolean => BLOCK.test(text) || INLINE.test(text)

/** Megabytes, for those who are shown some. */
const loaded = lazily(() => import('./markdown-renderer.ts'))

/** Undefined where it would be too much work. */
export async function markdownHtml(text: string): Promise<string | undefined> {
  if (!isBounded(text)) return undefined
  const { renderer } = await loaded()
  return renderer.render(text, {})
}
