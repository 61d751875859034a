/** The open gateway: entries in order of arrival, and their search. */

/** An entry of the open gateway: a trace, a seed, a whisper or a first contact. */
export interface Entry {
  /**
   * UUIDv7. Ids increase in the order in which entries became visible, so they are also cursors.
   */
  readonly id: string
  readonly feed: string
  readonly room: string
  /** Of a first contact: what it seeks, by which others find it. */
  readonly text: string
  readonly identity: string
  readonly identityType: string
  /** Members that only this feed's entries have: a JSON object, byte for byte as it was sent. */
  readonly details: string
  readonly createdAt: number
}

export interface NewEntry extends Entry {
  /** The proposed id. If one that is not lower exists, the entry gets the next id after that. */
  readonly id: string
  /** Labels to filter by, each at most once. */
  readonly labels: readonly string[]
}

export interface FeedQuery {
  readonly feed: string
  /** Only entries with all of these labels. */
  readonly labels: readonly string[]
  /** Only entries with a lower id; undefined starts at the newest. */
  readonly before: string | undefined
  readonly limit: number
}

export interface FeedPage {
  /** Newest first. With several labels, a page may be short although more entries follow. */
  readonly entries: readonly Entry[]
  /** `before` for the next page; undefined at the end. */
  readonly next: string | undefined
}

/** Of one feed alone, or of all but one; of all if it says neither. */
export interface FeedChoice {
  readonly only?: string
  readonly except?: string
}

export interface RoomSummary {
  readonly room: string
  readonly count: number
  /** Entries of each feed. */
  readonly feeds: Readonly<Record<string, number>>
  /** Newest first, of all feeds. */
  readonly latest: readonly Entry[]
}

/**
 * The open half. The cost of every verb is bounded, however many entries there are. Ids are
 * assigned in commit order: once an entry was read, none with a lower id appears.
 */
export interface GatewayStore {
  /**
   * Stores the entry, and removes a bounded number of the feed's oldest entries if it exceeds its
   * limits. Returns the entry's id.
   */
  leaveEntry(entry: NewEntry): Promise<string>
  readFeed(query: FeedQuery): Promise<FeedPage>
  /**
   * The newest entries that contain a word of one of the phrases, newest first, ignoring case and
   * Latin accents. Words of fewer than four letters count only if the phrase has no others; of all
   * phrases, the first words. Of the feeds that are chosen, among the newest 1,000 of all.
   */
  findKindred(
    phrases: readonly string[],
    limit: number,
    feeds?: FeedChoice,
  ): Promise<readonly Entry[]>
  /** Rooms with entries, each with its newest entry. */
  summarizeRooms(latest: number): Promise<readonly RoomSummary[]>
  /**
   * Entries of all feeds after this id, oldest first, for the stream: at most `limit`, and none
   * after the one that reaches `maxBytes` of texts and details.
   */
  entriesAfter(id: string, limit: number, maxBytes: number): Promise<readonly Entry[]>
  /** The newest entry's id; the nil UUID if there is none. */
  lastArrival(): Promise<string>
}
