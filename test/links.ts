/** The links of Markdown documents: what they lead to, and the anchors of headings as GitHub makes them. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Fenced and indented code has headings and brackets of its own languages. */
const proseOf = (markdown: string): string =>
  markdown.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '')

const withoutCode = (markdown: string): string => proseOf(markdown).replace(/`[^`\n]+`/g, '')

const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\-_ ]/gu, '')
    .replaceAll(' ', '-')

/** The second heading with the same text gets `-1`, the third `-2`. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = slugOf(heading)
    let n = 0
    while (anchors.has(n === 0 ? slug : `${slug}-${n}`)) n += 1
    anchors.add(n === 0 ? slug : `${slug}-${n}`)
  }
  return anchors
}

/** `[text](target)`, `[name]: target`, `src`, `srcset` and `href`, without addresses of the web. */
export const targetsOf = (markdown: string): string[] =>
  [
    ...withoutCode(markdown).matchAll(
      /\]\(<?([^)\s>]+)|^ {0,3}\[[^\]]+\]: +(\S+)|\b(?:src|srcset|href)="([^"\s]+)/gm,
    ),
  ]
    .map(([, inline, reference, attribute]) => inline ?? reference ?? attribute ?? '')
    .filter((target) => !/^[a-z][a-z\d+.-]*:/i.test(target))

/** Why a link of the document leads nowhere; undefined: it leads somewhere. */
export function faultOf(root: string, document: string, target: string): string | undefined {
  const [path = '', anchor] = decodeURI(target).split('#')
  const file = path === '' ? document : join(dirname(document), path)
  if (file.startsWith('..') || !existsSync(join(root, file))) return 'no such file'
  if (anchor === undefined || !file.endsWith('.md')) return
  return anchorsOf(readFileSync(join(root, file), 'utf8')).has(anchor)
    ? undefined
    : 'no such heading'
}
