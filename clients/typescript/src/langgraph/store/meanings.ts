/** What a model makes of items and of questions, as `index` of a LangGraph store has it. */
import type { IndexConfig, PutOperation } from '@langchain/langgraph-checkpoint'
import type { Meaning } from '../../index.ts'

/** The value as a whole, as JSON. */
const WHOLE = '$'

/** A name, or a place in a list: `[0]`, `[-1]`, or `[*]` for each. */
const STEP = /[^.[\]]+|\[(?:\*|-?\d+)\]/g

function step(value: unknown, name: string): unknown[] {
  if (!name.startsWith('[')) {
    const isNamed = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    return isNamed ? [(value as Record<string, unknown>)[name]] : []
  }
  if (!Array.isArray(value)) return []
  const at = name.slice(1, -1)
  return at === '*' ? value : [value.at(Number(at))]
}

function textOf(value: unknown): string[] {
  if (value === null || value === undefined) return []
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
}

/** The texts at a path such as `title`, `author.name` or `chapters[*].content`. */
function textsAt(value: unknown, path: string): string[] {
  if (path === WHOLE) return textOf(value)
  const steps = path.match(STEP) ?? []
  return steps
    .reduce<unknown[]>((found, name) => found.flatMap((each) => step(each, name)), [value])
    .flatMap(textOf)
}

export class Meanings {
  readonly #index: IndexConfig
  /** Under which the home keeps the vectors. */
  readonly model: string

  constructor(index: IndexConfig) {
    this.#index = index
    this.model = `langgraph.${index.dims}`
  }

  async ofQuestion(question: string): Promise<Meaning> {
    return { model: this.model, vector: await this.#index.embeddings.embedQuery(question) }
  }

  /** One vector for each item that has a text to embed. */
  async ofItems(puts: readonly PutOperation[]): Promise<ReadonlyMap<PutOperation, number[]>> {
    const texts = puts.map((put) => [put, this.#textOf(put)] as const).filter(([, text]) => text)
    if (texts.length === 0) return new Map()
    const vectors = await this.#index.embeddings.embedDocuments(texts.map(([, text]) => text))
    return new Map(texts.map(([put], at) => [put, vectors[at] ?? []]))
  }

  #textOf({ value, index }: PutOperation): string {
    if (value === null || index === false) return ''
    const fields = index ?? this.#index.fields ?? [WHOLE]
    return fields.flatMap((field) => textsAt(value, field)).join('\n')
  }
}
