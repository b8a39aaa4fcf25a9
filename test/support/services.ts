import type { SandboxOptions } from '../../src/demo/options.ts';

/** Two Leads services that answer the reference's open points in opposite ways. */
export const services: Readonly<Record<string, Partial<SandboxOptions>>> = {
  'a taciturn service': {
    createReply: 'nothing',
    updateReply: 'nothing-204',
    errorShape: 'nested',
    maxLimit: 25,
    repeatItems: 3,
    order: 'random',
    nullFollowUp: 'absent',
    followUpFormat: 'seconds',
  },
  'a talkative service': {
    createReply: 'location',
    createStatus: 200,
    getReply: 'wrapped',
    updateReply: 'wrapped',
    deleteStatus: 200,
    errorShape: 'array',
    rejectLimit: true,
    defaultLimit: 60,
    invalidStatus: 400,
    extraFields: true,
    idKind: 'other',
  },
};
