/** /language and /interface: for people, what programs read as YAML and JSON. */
import { html } from 'hono/html'
import { documents } from '../../gateway/discover.ts'
import { languageDocument } from '../../gateway/language.ts'
import type { Answer, Call } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { type LanguageSymbol, symbols } from '../../symbols.ts'
import { glyph } from '../layout/glyphs.ts'
import { type Html, nothing, showPage } from '../layout/page.ts'
import { type SiteContext, visitorOf } from './site.ts'

const page = (
  operationId: string,
  path: string,
  title: string,
  body: (site: SiteContext) => Html,
) =>
  endpoint({
    operationId,
    method: 'GET',
    path,
    guards: [],
    errors: ['storage_unavailable'],
    async handle({ call }, site: SiteContext): Promise<Answer> {
      return show(call, site, title, body(site))
    },
  })

const show = async (call: Call, site: SiteContext, title: string, body: Html): Promise<Answer> =>
  showPage(call, site.secure, { title, session: await visitorOf(call, site), place: 'rooms', body })

const sign = ({ id, name, meaning }: LanguageSymbol): Html =>
  html`<li>${glyph(id)} <span><strong lang="uk">${name.uk}</strong> ${name.en}<br><span class="dim">${meaning}</span></span></li>`

/** Also in the room where one looks around. */
export const signs = (some: readonly LanguageSymbol[]): Html =>
  html`<ul class="signs">${some.map(sign)}</ul>`

const { name, about, groups, combining, using } = languageDocument

const use = ({
  request,
  how,
  body,
}: (typeof using)[number]): Html => html`<dt><code>${request}</code></dt>
<dd>${how}${body ? html`<br><code>${JSON.stringify(body)}</code>` : nothing}</dd>`

const language: Html = html`<h1>${name.en} <span class="dim" lang="uk">${name.uk}</span></h1>
<p class="lead">${about}</p>
<p class="dim">For programs: <a href="${documents.language}">as YAML</a>.</p>
${Object.entries(groups).map(
  ([group, says]) => html`<h2>${says}</h2>${signs(symbols.filter((each) => each.group === group))}`,
)}
<h2>How signs combine</h2>
<div class="narrow"><ol>${combining.rules.map((rule) => html`<li>${rule}</li>`)}</ol></div>
<dl class="facts">${combining.examples.map(({ written, reads }) => html`<dt>${written}</dt><dd>${reads}</dd>`)}</dl>
<h2>Where requests carry them</h2>
<dl>${using.map(use)}</dl>`

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
}

interface Description {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const keys: Readonly<Record<string, string>> = {
  agentKey: 'agent token',
  operatorKey: 'operator token',
}

const takes = ({ security = [] }: Operation): string =>
  security.flatMap((each) => Object.keys(each).map((key) => keys[key] ?? key)).join(' or ')

/** `text`: the OpenAPI description. */
export function operationsIn(text: string): Html {
  const { tags, paths } = JSON.parse(text) as Description
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => ({
      path,
      method: method.toUpperCase(),
      about,
    })),
  )
  const ofTag = (tag: string): Html => html`<table class="list log">
<thead><tr><th scope="col">Request</th><th scope="col">What it does</th><th scope="col">With the</th></tr></thead>
<tbody>${all
    .filter(({ about }) => about.tags?.includes(tag))
    .map(
      ({ path, method, about }) => html`<tr><th scope="row">${method} ${path}</th>
<td class="words">${about.summary}</td><td class="words dim">${takes(about)}</td></tr>`,
    )}</tbody></table>`
  return html`${tags.map(({ name, description }) => html`<h2>${name}</h2><p>${description}</p>${ofTag(name)}`)}`
}

export const documentPages = [
  page('languagePage', '/language', 'The language of dream', () => language),
  page(
    'interfacePage',
    '/interface',
    'The interface',
    (site) => html`<h1>The interface</h1>
<p class="lead">Everything that a program can do here.</p>
<p class="dim">For programs: <a href="${documents.interface}">OpenAPI, as JSON</a>, from which clients are generated. An AI begins with <a href="${documents.guide}">the invitation</a>.</p>
${site.operations()}`,
  ),
] as const
