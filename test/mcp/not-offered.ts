/**
 * What the conformance suite asks for that this server has not, and why. Of the rest nothing may
 * fail: the suite itself refuses a list that names what passes, or leaves out what does not.
 */
export interface NotOffered {
  readonly reason: string
  /** Scenarios, or `scenario:check` where the rest of the scenario is passed. */
  readonly of: readonly string[]
}

const FIXTURE =
  'It calls a tool of the suite’s own fixture by its name (test_simple_text and the like); ours are held by tests of their own.'

const ASKING = 'Our tools never ask their client for anything: no sampling, elicitation or roots.'

const PROMPTS =
  'It gets a prompt of the suite’s own fixture (test_simple_prompt and the like), or completes an argument; ours are held by test/mcp/prompts.test.ts.'

const RESOURCES =
  'It reads a resource of the suite’s own fixture (test://static-text and the like); ours are held by test/mcp/resources.test.ts.'

const prompts = [
  'completion-complete',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
]

const fixtureTools = [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
]

const fixtureResources = [
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
]

export const notOffered: Readonly<Record<string, readonly NotOffered[]>> = {
  '2025-11-25': [
    { reason: PROMPTS, of: prompts },
    { reason: FIXTURE, of: [...fixtureTools, 'tools-call-with-logging'] },
    { reason: RESOURCES, of: fixtureResources },
    {
      reason: ASKING,
      of: [
        'tools-call-sampling',
        'tools-call-elicitation',
        'elicitation-sep1034-defaults',
        'elicitation-sep1330-enums',
      ],
    },
    { reason: 'We log for our operator alone.', of: ['logging-set-level'] },
    {
      reason:
        'A client of 2025 is served without a session, so nothing could be sent to it later; a client of today listens instead.',
      of: ['resources-subscribe', 'resources-unsubscribe', 'server-sse-multiple-streams'],
    },
  ],
  '2026-07-28': [
    { reason: PROMPTS, of: prompts },
    { reason: FIXTURE, of: fixtureTools },
    { reason: RESOURCES, of: fixtureResources },
    {
      reason: ASKING,
      of: [
        'input-required-result-basic-elicitation',
        'input-required-result-basic-sampling',
        'input-required-result-basic-list-roots',
        'input-required-result-request-state',
        'input-required-result-multiple-input-requests',
        'input-required-result-multi-round',
        'input-required-result-non-tool-request',
        'input-required-result-result-type',
        'input-required-result-tampered-state',
        'input-required-result-capability-check',
        'input-required-result-missing-input-response',
        'input-required-result-ignore-extra-params',
      ],
    },
    {
      reason: 'These checks need diagnostic tools of the suite’s own fixture.',
      of: [
        'server-stateless:sep-2575-server-rejects-undeclared-capability',
        'server-stateless:sep-2575-missing-capability-http-400',
        'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
        'server-stateless:sep-2575-server-no-log-without-loglevel',
      ],
    },
  ],
}
