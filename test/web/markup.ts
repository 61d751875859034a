/** What a browser makes of a page, as far as tests ask: fields, what they hold, and plain text. */

/** As text stands in a page. */
export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

const characters: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

const read = (markup: string): string =>
  markup.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => characters[entity] ?? entity)

/** Without its tags. */
export const textIn = (markup: string): string => read(markup.replace(/<[^>]*>/g, ''))

const all = (page: string, pattern: RegExp): [string, string][] =>
  [...page.matchAll(pattern)].map(([, name = '', value = '']) => [name, read(value)])

/** Without the navigation and what else stands around it. */
const contentOf = (page: string): string => /<main[^>]*>(.*)<\/main>/s.exec(page)?.[1] ?? page

/** What its forms would send; of a text field the first line feed is not a part of it. */
export function fieldsIn(whole: string): Record<string, string> {
  const page = contentOf(whole)
  return Object.fromEntries([
    ...all(page, /<input [^>]*?name="([^"]*)"[^>]*? value="([^"]*)"/g),
    ...all(page, /<textarea [^>]*?name="([^"]*)"[^>]*>\n?([^<]*)<\/textarea>/g),
    ...all(page, /<select [^>]*?name="([^"]*)"(?:(?!<\/select>).)*? value="([^"]*)" selected/gs),
  ])
}

/** The contents of every element of this name, as markup. */
export const insideOf = (page: string, name: string): string[] =>
  [...page.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, 'gs'))].map(
    ([, inner = '']) => inner,
  )

/** What a page is about, without the list beside it. */
export const articleIn = (page: string): string => insideOf(page, 'article').join()

/** The browser's modules that a page loads. */
export const scriptsIn = (page: string): string[] =>
  all(page, /<script [^>]*src="[^"]*\/(\w+)\.\w+"/g).map(([name]) => name)

export const linksIn = (page: string): string[] =>
  all(page, /<a\s(?:[^>]*\s)?href="([^"]*)"/g).map(([href]) => read(href))
