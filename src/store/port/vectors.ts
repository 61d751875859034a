/** Vectors that clients compute from texts: an index for search by meaning, and nothing else. */
import type { Identity, Refused } from './identity.ts'

/** A vector belongs to one version of a memory, and goes with its text. */
export interface VectorOf {
  readonly key: string
  readonly version: number
  /** Of length 1. */
  readonly vector: Float32Array
}

export type StoreVectorsAnswer =
  | {
      readonly outcome: 'stored'
      readonly stored: number
      /** Those of another version than the current one; 0: there is no memory. */
      readonly stale: readonly { readonly key: string; readonly currentVersion: number }[]
      /** Keys of memories that only the operator changes, if there are some. */
      readonly protected?: readonly string[]
    }
  /** Only the operator changes any of them. */
  | { readonly outcome: 'protected' }
  /** Other vectors of this model have so many numbers. */
  | { readonly outcome: 'other_length'; readonly numbers: number }
  | { readonly outcome: 'over_quota' }
  | Refused

/** Where a memory's text went: to a version that has the same text, or out of sight. */
export interface TextFate {
  readonly from: string
  readonly to: { readonly key: string; readonly version: number } | undefined
}

/** What the index reads. */
export interface VectorsPage {
  readonly outcome: 'vectors'
  /** In the order in which they were stored or moved. */
  readonly vectors: readonly (VectorOf & { readonly model: string; readonly n: number })[]
  /** The number of the last that the home has had. */
  readonly last: number
  readonly isEnd: boolean
}

export interface VectorStore {
  /** All of them but the stale and the protected, or none; a memory has one vector, of one model. */
  storeVectors(
    identity: Identity,
    model: string,
    vectors: readonly VectorOf[],
  ): Promise<StoreVectorsAnswer>
}
