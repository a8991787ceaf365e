import { describe, expect, test } from '@jest/globals';
import { openSystemd, SystemdError } from '../../src/run/systemd.ts';

const pid = `${process.pid}`;
const open = (env: Record<string, string | undefined>) =>
  openSystemd(env, (sentence) => {
    throw new Error(sentence);
  });

describe('the environment of systemd', () => {
  test.each([
    ['a number with more than digits', { LISTEN_FDS: '1x', LISTEN_FDNAMES: 'public' }],
    ['no sockets', { LISTEN_FDS: '0', LISTEN_FDNAMES: 'public' }],
    ['more sockets than names', { LISTEN_FDS: '2', LISTEN_FDNAMES: 'public' }],
    ['more names than sockets', { LISTEN_FDS: '1', LISTEN_FDNAMES: 'public:admin' }],
    ['no names', { LISTEN_FDS: '1' }],
    ['an unknown name', { LISTEN_FDS: '1', LISTEN_FDNAMES: 'storegate.socket' }],
    ['the name of a built-in property', { LISTEN_FDS: '1', LISTEN_FDNAMES: '__proto__' }],
    ['a name twice', { LISTEN_FDS: '2', LISTEN_FDNAMES: 'public:public' }],
    ['a relative path', { NOTIFY_SOCKET: 'run/notify' }],
    ['an address of another family', { NOTIFY_SOCKET: 'vsock:2:1234' }],
    ['a path that is too long', { NOTIFY_SOCKET: `/${'n'.repeat(107)}` }],
    ['no time', { NOTIFY_SOCKET: '/n', WATCHDOG_USEC: '0' }],
    ['a negative time', { NOTIFY_SOCKET: '/n', WATCHDOG_USEC: '-1' }],
    ['a time in exponents', { NOTIFY_SOCKET: '/n', WATCHDOG_USEC: '1e6' }],
  ])('is refused with %s', (_what, env) => {
    expect(() => open({ LISTEN_PID: pid, ...env })).toThrow(SystemdError);
  });

  test('of another process is ignored', () => {
    expect(open({ LISTEN_FDS: 'x', LISTEN_PID: '1' }).sockets).toEqual({});
    expect(open({ LISTEN_FDS: '1', LISTEN_FDNAMES: 'public' }).sockets).toEqual({});
    expect(() =>
      open({ NOTIFY_SOCKET: '/n', WATCHDOG_USEC: 'x', WATCHDOG_PID: '1' }),
    ).not.toThrow();
  });

  test('is removed, because child processes inherit it', () => {
    const env: Record<string, string | undefined> = {
      LISTEN_FDS: '1',
      LISTEN_PID: '1',
      LISTEN_FDNAMES: 'public',
      NOTIFY_SOCKET: '@n',
      WATCHDOG_USEC: '1000000',
      WATCHDOG_PID: pid,
      PATH: '/bin',
    };
    open(env);
    expect(env).toEqual({ PATH: '/bin' });
  });
});
