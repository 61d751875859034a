/** The stylesheet, the font and the browser modules, at addresses that change with their content. */
import { createHash } from 'node:crypto'
import { stripTypeScriptTypes } from 'node:module'
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { answer } from '../../http/call.ts'
import { lazily } from '../../lazily.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { readProgramBytes, readProgramFile } from '../../program-files.ts'
import { serviceIcon } from './glyphs.ts'

/** `ts` in the sources, `js` in a build. */
const extension = import.meta.url.slice(-2)

const BROWSER = extension === 'ts' ? '../browser' : './browser'

const modules = [
  'ago',
  'bytes',
  'check',
  'copy',
  'dialogs',
  'draft',
  'find',
  'follow',
  'keyboard',
  'later',
  'live',
  'news',
  'passkey',
  'shown',
  'submit',
  'ticking',
  'upload',
  'verify',
  'zone',
] as const

/** What `verify` needs of the client; a build has it in that module. */
const clientModules = ['chain', 'errors', 'json-source', 'replay'] as const

/** Sent as one file, in this order. */
const styles = [
  'base',
  'shapes',
  'frame',
  'forms',
  'lists',
  'console',
  'memories',
  'versions',
  'paper',
] as const

/** Geist, by the letters that each file has; `style/base.css` says which those are. */
const fonts = ['latin', 'latin-ext', 'cyrillic'] as const

export type BrowserModule = (typeof modules)[number]

interface Asset {
  readonly type: string
  readonly content: string | Uint8Array
}

const read = (path: string): string => readProgramFile(path, import.meta.url)

/** Browsers know no packages by name. */
const plain = (source: string): string =>
  stripTypeScriptTypes(source).replace("'agent-home-client'", "'./chain.ts'")

function moduleText(name: BrowserModule): string {
  const source = read(`${BROWSER}/${name}.${extension}`)
  return extension === 'ts' ? plain(source) : source
}

function clientText(name: (typeof clientModules)[number]): string {
  return plain(readProgramFile(`./${name}.ts`, import.meta.resolve('agent-home-client')))
}

/** In the sources from the package, which is not there beside a build. */
function fontBytes(name: (typeof fonts)[number]): Uint8Array {
  const file = `geist-${name}-wght-normal.woff2`
  return extension === 'ts'
    ? readProgramBytes(import.meta.resolve(`@fontsource-variable/geist/files/${file}`), '')
    : readProgramBytes(`./fonts/${file}`, import.meta.url)
}

/** Without comments, indentation and line breaks, a quarter of its size. */
const styleText = (names: readonly string[]): string =>
  names
    .map((name) => read(`./style/${name}.css`))
    .join('')
    .replaceAll(/\/\*.*?\*\/|^ +|\n(?=\n)/gms, '')
    .replaceAll(/ ?([{};,])\n/g, '$1')

const fileOf = (name: BrowserModule): string => `${name}.${extension}`

const CSS = 'text/css; charset=utf-8'

const SCRIPT = 'text/javascript; charset=utf-8'

interface Edition {
  /** Changes with the content, so that browsers may cache it forever. */
  readonly id: string
  readonly files: ReadonlyMap<string, Asset>
}

function load(): Edition {
  const files = new Map<string, Asset>([
    ['style.css', { type: CSS, content: styleText(styles) }],
    ['rooms.css', { type: CSS, content: styleText(['rooms']) }],
    ['icon.svg', { type: 'image/svg+xml', content: serviceIcon() }],
  ])
  for (const name of modules) {
    files.set(fileOf(name), { type: SCRIPT, content: moduleText(name) })
  }
  for (const name of extension === 'ts' ? clientModules : []) {
    files.set(`${name}.ts`, { type: SCRIPT, content: clientText(name) })
  }
  for (const name of fonts) {
    files.set(`${name}.woff2`, { type: 'font/woff2', content: fontBytes(name) })
  }
  const whole = createHash('sha256')
  for (const [name, { content }] of files) whole.update(name).update(content)
  return { id: whole.digest('hex').slice(0, 12), files }
}

/** Read for the first page. */
const edition = lazily(load)

const addressOf = (file: string): string => `/assets/${edition().id}/${file}`

export const stylesheet = (): string => addressOf('style.css')
/** Only for the landing page and the rooms. */
export const roomsStylesheet = (): string => addressOf('rooms.css')
/** Of the letters that every page has, to be loaded with the stylesheet. */
export const font = (): string => addressOf('latin.woff2')
export const icon = (): string => addressOf('icon.svg')
export const scriptOf = (name: BrowserModule): string => addressOf(fileOf(name))

export const asset = endpoint({
  operationId: 'asset',
  method: 'GET',
  path: '/assets/:edition/:file',
  params: z.object({ edition: z.string(), file: z.string() }),
  guards: [],
  errors: ['not_found'],
  handle({ call, params }) {
    const { id, files } = edition()
    const found = params.edition === id ? files.get(params.file) : undefined
    if (!found) throw problem('not_found')
    call.responseHeaders['Cache-Control'] = 'public, max-age=31536000, immutable'
    const { content, type } = found
    if (typeof content === 'string') return answer(call, 200, content, type)
    call.responseHeaders['Content-Type'] = type
    call.responseHeaders['Content-Length'] = String(content.length)
    return { ...answer(call, 200, null), bytes: content }
  },
})
