/** The client's types say what the description says, by the compiler's word; its examples compile. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as client from 'agent-home-client'
import { afterAll, expect, test } from 'vitest'
import { comparing, PAIRS, type Schemas, schemasText } from '../client/described.ts'
import { bodyOf, examples, importsOf } from '../client/examples.ts'
import { embedded, openService } from '../harness.ts'
import { cleanUp, freshDirectory, launch, root } from './program.ts'

afterAll(cleanUp)

interface Parameter {
  readonly name: string
  readonly schema: Schemas[string]
}

interface Description {
  readonly components: { readonly schemas: Schemas }
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { operationId: string; parameters?: Parameter[] }>>>
  >
}

async function readDescription(): Promise<Description> {
  const service = await openService(embedded)
  const { text } = await service.call('GET', '/openapi.json')
  await service.close()
  return JSON.parse(text) as Description
}

/** Compiles with nothing but what the language and the web have. */
async function compile(files: Readonly<Record<string, string>>, types = '') {
  const directory = freshDirectory()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const config = {
    extends: join(root, 'clients/typescript/tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: true, noUnusedLocals: false, noUnusedParameters: false, rootDir: '/' },
      // TypeScript's own files are not what is tried.
      skipDefaultLibCheck: true,
      ...{ types: types ? [types] : [], typeRoots: [join(root, 'node_modules/@types')] },
      paths: { 'agent-home-client': [join(root, 'clients/typescript/src/index.ts')] },
    },
    include: ['*.ts'],
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  const command = [join(root, 'node_modules/.bin/tsc'), '--pretty', 'false']
  const { code, stdout } = await launch({ directory, command }).ended
  return { code, stdout }
}

const head = `import type * as Client from 'agent-home-client'
import type { Assert, Flipped, Same, Schemas, Verbs } from './schemas.ts'
`

const schemasFile = ({ components }: Description): string =>
  `${comparing}\nexport interface Schemas {\n${schemasText(components.schemas)}\n}\n`

const assertions = (lines: readonly string[]): string =>
  head + lines.map((line, n) => `export type T${n} = ${line}`).join('\n')

const equalities = Object.entries(PAIRS).map(
  ([ours, theirs]) => `Assert<Same<Client.${ours}, ${theirs}>>`,
)

const others = [
  // Answers without their texts are for who asks for them: the client does not.
  `Assert<Same<Required<NonNullable<Extract<Client.BatchResult, { memory: unknown }>['memory']>>,
    Required<NonNullable<Extract<Schemas['BatchResult']['results'][number], { memory: unknown }>['memory']>>>>`,
  `Assert<Same<Extract<Client.BatchResult, { deleted: unknown }>,
    Extract<Schemas['BatchResult']['results'][number], { deleted: unknown }>>>`,
  "Assert<Same<Verbs<Client.Operation>, Schemas['Operation']>>",
  ...['VersionConflict', 'BatchConflict', 'ImportConflict'].map(
    (name) =>
      `Assert<Same<Exclude<keyof Known<Schemas['${name}']>, keyof Known<Schemas['Problem']>> & string,
        Exclude<keyof Client.${name}, keyof Client.HomeError>>>`,
  ),
]

const known = `type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] }\n`

test('its types are those of the description', async () => {
  const description = await readDescription()
  const files = {
    'schemas.ts': schemasFile(description),
    'same.ts': known + assertions([...equalities, ...others]),
  }
  expect(await compile(files)).toEqual({ code: 0, stdout: '' })
})

test('a property that were missing, or required and should not be, is seen: each of them', async () => {
  const description = await readDescription()
  const { schemas } = description.components
  const changed = Object.entries(PAIRS).flatMap(([ours, theirs]) => {
    const name = /^Schemas\['(\w+)'\]$/.exec(theirs)?.[1] ?? ''
    return Object.keys(schemas[name]?.properties ?? {}).flatMap((property) => [
      `Same<Client.${ours}, Omit<${theirs}, '${property}'>>`,
      `Same<Client.${ours}, Flipped<${theirs}, '${property}'>>`,
    ])
  })
  expect(changed.length).toBeGreaterThan(150)
  const refuted = changed.map(
    (line, n) => `// @ts-expect-error: it differs.\nexport type T${n} = Assert<${line}>`,
  )
  const files = { 'schemas.ts': schemasFile(description), 'differ.ts': head + refuted.join('\n') }
  expect(await compile(files)).toEqual({ code: 0, stdout: '' })
})

test('its options are the parameters of the description', async () => {
  const { paths } = await readDescription()
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const chosen = [
    ['listMemories', 'order', "Client.ListOptions['order']"],
    ['listMemories', 'view', "Client.ListOptions['view']"],
    ['importMemories', 'onConflict', "Client.ImportOptions['onConflict']"],
  ] as const
  const lines = chosen.map(([operation, name, ours]) => {
    const { parameters = [] } =
      operations.find(({ operationId }) => operationId === operation) ?? {}
    const values = parameters.find((parameter) => parameter.name === name)?.schema.enum ?? []
    const union = values.map((value) => JSON.stringify(value)).join(' | ')
    return `Assert<Same<NonNullable<${ours}>, ${union || 'never'}>>`
  })
  const files = {
    'schemas.ts': `${comparing}\nexport interface Schemas {}`,
    'same.ts': assertions(lines),
  }
  expect(await compile(files)).toEqual({ code: 0, stdout: '' })
})

test('it needs no types of Node.js', async () => {
  expect(await compile({ 'used.ts': "export * from 'agent-home-client'" })).toEqual({
    code: 0,
    stdout: '',
  })
  const { code } = await compile({ 'used.ts': 'export const { platform } = process' })
  expect(code).not.toBe(0)
})

test('its examples compile', async () => {
  const given = `home: AgentHome, operator: AgentHome, url: string, token: string, operator_token: string, directory: string, console: { log(...values: unknown[]): void }`
  const files = Object.fromEntries(
    examples.map((example, n) => {
      const own = importsOf(example).map(({ names, from }) => `import ${names} from '${from}'\n`)
      const missing = Object.keys(client).filter((name) => !own.join().includes(name))
      const imports = `${own.join('')}import { ${missing.join(', ')} } from 'agent-home-client'\n`
      return [
        `example${n}.ts`,
        `// ${example.at}\n${imports}export async function run(${given}) {\n${bodyOf(example)}\n}\n`,
      ]
    }),
  )
  expect(await compile(files, 'node')).toEqual({ code: 0, stdout: '' })
})
