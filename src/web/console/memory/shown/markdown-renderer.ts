/** Markdown as HTML that reaches nobody: no markup of its own, no pictures, no links but plain ones. */
import MarkdownIt from 'markdown-it'

interface Place {
  /** A picture's link must not stand within another. */
  inLink?: boolean
  heading?: number
}

const placeOf = (env: object | undefined): Place => env ?? {}

const safeLink = (url: string): boolean => /^(https?:|mailto:)/i.test(url.trim())

function createRenderer() {
  const renderer = new MarkdownIt('default', { html: false, linkify: false, maxNesting: 20 })
  const { escapeHtml } = renderer.utils
  renderer.validateLink = safeLink
  const { rules } = renderer.renderer
  const open = (href: string): string => `<a href="${escapeHtml(href)}" rel="noreferrer nofollow">`
  rules.link_open = (tokens, at, _options, env) => {
    const href = String(tokens[at]?.attrGet('href') ?? '')
    placeOf(env).inLink = true
    // Who hears the page needs a name for every link.
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
  // Below the page's own headings, and without a step left out.
  rules.heading_open = (tokens, at, _options, env) => {
    const level = Math.min(Number(tokens[at]?.tag.slice(1)) + 1, (placeOf(env).heading ?? 1) + 1, 6)
    placeOf(env).heading = level
    return `<h${level}>`
  }
  rules.heading_close = (_tokens, _at, _options, env) => `</h${placeOf(env).heading ?? 2}>\n`
  rules.fence = (tokens, at) => `<pre><code>${escapeHtml(tokens[at]?.content ?? '')}</code></pre>\n`
  return renderer
}

export const renderer = createRenderer()
