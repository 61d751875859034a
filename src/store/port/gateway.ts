/** The open gateway: entries in the order of arrival, and what finds them again. */

/** One thing left in the open gateway: a trace, a seed, a whisper, or a first contact. */
export interface Entry {
  /** UUIDv7. Ids grow in the order in which entries became readable; so they are cursors too. */
  readonly id: string
  readonly feed: string
  readonly room: string
  /** Empty for a first contact. */
  readonly text: string
  readonly identity: string
  readonly identityType: string
  /** What only entries of this feed have: a JSON object, byte for byte as it was left. */
  readonly details: string
  readonly createdAt: number
}

export interface NewEntry extends Entry {
  /** The id the entry gets, unless one that is not earlier exists: then the next after that. */
  readonly id: string
  /** What the feed can be filtered by, each label at most once. */
  readonly labels: readonly string[]
}

export interface FeedQuery {
  readonly feed: string
  /** Only entries that bear every one of them. */
  readonly labels: readonly string[]
  /** Only entries whose id is lower; undefined starts at the newest. */
  readonly before: string | undefined
  readonly limit: number
}

export interface FeedPage {
  /** Newest first. With several labels it may be short of the limit although more follow. */
  readonly entries: readonly Entry[]
  /** `before` of the next page; undefined at the end. */
  readonly next: string | undefined
}

export interface RoomSummary {
  readonly room: string
  readonly count: number
  /** Of them, those of each feed. */
  readonly feeds: Readonly<Record<string, number>>
  /** Newest first, from every feed. */
  readonly latest: readonly Entry[]
}

/**
 * The open half. Every verb's cost is bounded, however many entries there are. Ids are given in
 * the order of commits: once an entry was read, no entry with a lower id will appear.
 */
export interface GatewayStore {
  /**
   * Keeps the entry, and removes the feed's oldest over the store's capacity, a bounded number at a
   * time. Answers the id it got.
   */
  leaveEntry(entry: NewEntry): Promise<string>
  readFeed(query: FeedQuery): Promise<FeedPage>
  /**
   * The newest entries whose text has one of the phrases' words, newest first. Case does not
   * matter, nor do the accents of Latin letters. Of a phrase words of four letters or more count,
   * unless it has none; of all phrases, the first words.
   */
  findKindred(phrases: readonly string[], limit: number): Promise<readonly Entry[]>
  /** The rooms that have entries, each with its newest. */
  summarizeRooms(latest: number): Promise<readonly RoomSummary[]>
  /**
   * Arrivals of every feed after this id, oldest first: what a stream says next. At most `limit`,
   * and none after the one with which texts and details reach `maxBytes` in UTF-8.
   */
  entriesAfter(id: string, limit: number, maxBytes: number): Promise<readonly Entry[]>
  /** The newest entry's id; the nil UUID before the first. */
  lastArrival(): Promise<string>
}
