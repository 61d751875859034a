/** Every answer that a test sees is held to the OpenAPI description that the service gives. */
import type { App } from '../src/app.ts'
import { homeEndpoints } from '../src/home/index.ts'
import { ask } from './harness.ts'

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>
    >
  >
}

let described: Promise<Described> | undefined

const describe = async (app: App): Promise<Described> =>
  (await ask(app, 'GET', '/openapi.json')).body as unknown as Described

const matches = (template: string, path: string): boolean =>
  new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)

function checkBody(method: string, path: string, status: number, body: unknown): void {
  const endpoint = homeEndpoints.find((known) => known.method === method && known.path === path)
  endpoint?.docs.responses[status]?.schema?.parse(body)
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Throws when an answer lacks what all have, or its status or shape is not as described. */
export async function checkDocumented(
  app: App,
  method: string,
  url: string,
  { status, headers, body }: Answered,
): Promise<void> {
  if (!headers.has('x-request-id') || headers.get('x-content-type-options') !== 'nosniff') {
    throw new Error(`${method} ${url} answered ${status} without X-Request-Id or nosniff`)
  }
  const [path = ''] = url.split('?')
  described ??= describe(app)
  const { paths } = await described
  const methods = Object.entries(paths).find(([template]) => matches(template, path))?.[1]
  const responses = methods?.[method.toLowerCase()]?.responses
  if (!responses) return
  if (!responses[status]) {
    throw new Error(`${method} ${path} answered ${status}, which /openapi.json does not list`)
  }
  checkBody(method, path, status, body)
}
