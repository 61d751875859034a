/** A page as a reader meets it: its texts, links, forms and fields, without its layout. */

const TOKEN = /<!--[\s\S]*?-->|<(\/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^">])*)>|[^<]+/gi

/** They flow within a line. */
const INLINE = new Set(
  'a abbr b bdi br code del dfn em i input ins kbd legend mark option q s small span strong sub sup summary svg time u var wbr'.split(
    ' ',
  ),
)

/** What begins a block that may come again on another page. */
const BLOCKS = new Set(
  'header nav main footer form fieldset section article aside table dialog ol ul dl'.split(' '),
)

/** Attributes that a reader or a program notices, by element; those of `*` everywhere. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  '*': ['aria-label', 'aria-current', 'hidden', 'lang'],
  a: ['href', 'download', 'rel'],
  button: ['name', 'value', 'formaction', 'formmethod', 'disabled'],
  form: ['method', 'action', 'enctype'],
  input: ['name', 'type', 'value', 'checked', 'required', 'min', 'max', 'pattern', 'accept'],
  link: ['rel', 'href'],
  meta: ['name', 'content', 'http-equiv'],
  option: ['value', 'selected', 'disabled'],
  script: ['src'],
  select: ['name', 'required'],
  textarea: ['name', 'required', 'readonly'],
}

/** Elements that are noticed though they have no such attribute. */
const SHOWN = new Set('button form h1 h2 h3 h4 input option select textarea'.split(' '))

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ' },
}

const decoded = (text: string): string =>
  text.replaceAll(/&[a-z#0-9]+;/gi, (entity) => ENTITIES[entity] ?? entity)

function tagOf(name: string, attributes: string): string {
  const kept = [...(KEPT[name] ?? []), ...(KEPT['*'] ?? [])]
  const shown = [...attributes.matchAll(/([^\s="]+)(?:="([^"]*)")?/g)]
    .filter(([, attribute = '']) => kept.includes(attribute))
    .map(([, attribute, value]) =>
      value === undefined ? `${attribute}` : `${attribute}=${decoded(value)}`,
    )
  return shown.length > 0 || SHOWN.has(name) ? `<${[name, ...shown].join(' ')}>` : ''
}

/** Blocks of lines. */
export function outlineOf(page: string): string[][] {
  const blocks: string[][] = [[]]
  let line = ''
  let preformatted = false
  const endLine = () => {
    const text = preformatted ? line : line.replaceAll(/\s+/g, ' ').trim()
    if (text !== '') blocks.at(-1)?.push(text)
    line = ''
  }
  for (const [token, closing, sent, attributes = ''] of page.matchAll(TOKEN)) {
    const name = sent?.toLowerCase()
    if (name === undefined) line += token.startsWith('<!--') ? '' : decoded(token)
    else {
      if (!INLINE.has(name)) endLine()
      if (name === 'pre' || name === 'textarea') preformatted = !closing
      if (BLOCKS.has(name) || name === 'title') blocks.push([])
      if (!closing) line += tagOf(name, attributes)
    }
  }
  endLine()
  return blocks.filter((block) => block.length > 0)
}
