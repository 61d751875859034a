/** The stylesheet and the browser modules, at addresses that change with their content. */
import { hash } from 'node:crypto'
import { stripTypeScriptTypes } from 'node:module'
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { answer } from '../../http/call.ts'
import { lazily } from '../../lazily.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { readProgramFile } from '../../program-files.ts'
import { serviceIcon } from './glyphs.ts'

/** `ts` in the sources, `js` in a build. */
const extension = import.meta.url.slice(-2)

const BROWSER = extension === 'ts' ? '../browser' : './browser'

const modules = [
  'bytes',
  'check',
  'copy',
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
  'upload',
  'zone',
] as const

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

export type BrowserModule = (typeof modules)[number]

interface Asset {
  readonly type: string
  readonly text: string
}

const read = (path: string): string => readProgramFile(path, import.meta.url)

function moduleText(name: BrowserModule): string {
  const source = read(`${BROWSER}/${name}.${extension}`)
  return extension === 'ts' ? stripTypeScriptTypes(source) : source
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

interface Edition {
  /** Changes with the content, so that browsers may cache it forever. */
  readonly id: string
  readonly files: ReadonlyMap<string, Asset>
}

function load(): Edition {
  const files = new Map<string, Asset>([
    ['style.css', { type: CSS, text: styleText(styles) }],
    ['rooms.css', { type: CSS, text: styleText(['rooms']) }],
    ['icon.svg', { type: 'image/svg+xml', text: serviceIcon() }],
  ])
  for (const name of modules) {
    files.set(fileOf(name), { type: 'text/javascript; charset=utf-8', text: moduleText(name) })
  }
  return { id: hash('sha256', JSON.stringify([...files]), 'hex').slice(0, 12), files }
}

/** Read for the first page. */
const edition = lazily(load)

const addressOf = (file: string): string => `/assets/${edition().id}/${file}`

export const stylesheet = (): string => addressOf('style.css')
/** Only for the landing page and the rooms. */
export const roomsStylesheet = (): string => addressOf('rooms.css')
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
    return answer(call, 200, found.text, found.type)
  },
})
