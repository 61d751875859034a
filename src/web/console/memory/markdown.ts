/** Markdown as HTML, for texts whose rendering time is bounded. */
import type { MarkdownIt } from 'markdown-it'
import { lazily } from '../../../lazily.ts'

/** What rendering time grows with. The slowest 16 KiB within these limits took 290 ms. */
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

interface Place {
  /** Links must not be nested, so a picture within one is not linked. */
  inLink?: boolean
  heading?: number
}

const placeOf = (env: object | undefined): Place => env ?? {}

/** No HTML of the text's own, no pictures, and only plain links. */
function restrict(renderer: MarkdownIt): MarkdownIt {
  const { escapeHtml } = renderer.utils
  renderer.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim())
  const { rules } = renderer.renderer
  const open = (href: string): string => `<a href="${escapeHtml(href)}" rel="noreferrer nofollow">`
  rules.link_open = (tokens, at, _options, env) => {
    const href = String(tokens[at]?.attrGet('href') ?? '')
    placeOf(env).inLink = true
    // Screen readers need a name for every link.
    return open(href) + (tokens[at + 1]?.type === 'link_close' ? escapeHtml(href) : '')
  }
  rules.link_close = (_tokens, _at, _options, env) => {
    placeOf(env).inLink = false
    return '</a>'
  }
  rules.image = (tokens, at, _options, env) => {
    const token = tokens[at]
    const href = String(token?.attrGet('src') ?? '')
    const name = escapeHtml(token?.content || href)
    return placeOf(env).inLink ? name : `${open(href)}${name}</a>`
  }
  // Below the page's own headings, without skipping a level.
  rules.heading_open = (tokens, at, _options, env) => {
    const level = Math.min(Number(tokens[at]?.tag.slice(1)) + 1, (placeOf(env).heading ?? 1) + 1, 6)
    placeOf(env).heading = level
    return `<h${level}>`
  }
  rules.heading_close = (_tokens, _at, _options, env) => `</h${placeOf(env).heading ?? 2}>\n`
  rules.fence = (tokens, at) => `<pre><code>${escapeHtml(tokens[at]?.content ?? '')}</code></pre>\n`
  return renderer
}

/** Loaded for the first Markdown text, because it takes megabytes. */
const renderer = lazily(async () => {
  const { default: Renderer } = await import('markdown-it')
  return restrict(new Renderer('default', { html: false, linkify: false, maxNesting: 20 }))
})

/** Undefined if rendering would take too long. */
export const markdownHtml = async (text: string): Promise<string | undefined> =>
  isBounded(text) ? (await renderer()).render(text, {}) : undefined
