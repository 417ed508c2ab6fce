"""OpenStack Swift with its S3 interface, whole in one process and in memory: see s3.ts.

Takes a folder to work in. Prints the port of the S3 interface when it answers; ends when its input does.
"""

import array
import os
import sys

# Its own way of asking for names takes half of the start, and here are addresses only.
os.environ['EVENTLET_NO_GREENDNS'] = 'yes'

import eventlet  # noqa: E402

eventlet.monkey_patch()

from eventlet import hubs, wsgi  # noqa: E402

FOLDER = sys.argv[1]

# Parts of names that Swift hashes; it reads them before it does anything else.
with open(os.path.join(FOLDER, 'swift.conf'), 'w') as conf:
    conf.write('[swift-hash]\nswift_hash_path_suffix = test\n')

from swift.common import utils  # noqa: E402

utils.set_swift_dir(FOLDER)

from swift.account import server as account  # noqa: E402
from swift.common.http_protocol import SwiftHttpProtocol  # noqa: E402
from swift.common.middleware import (  # noqa: E402
    bulk, catch_errors, copy, gatekeeper, listing_formats, slo, tempauth)
from swift.common.middleware.s3api import s3api  # noqa: E402
from swift.common.ring import RingData  # noqa: E402
from swift.container import server as container  # noqa: E402
from swift.obj import mem_server  # noqa: E402
from swift.proxy import server as proxy  # noqa: E402

CONF = {
    'swift_dir': FOLDER,
    'devices': FOLDER,
    'mount_check': 'false',
    'account_autocreate': 'true',
    'log_level': 'CRITICAL',
    'log_udp_host': '127.0.0.1',
    'log_udp_port': '9',
}


class NoCache:
    """Stands in for memcached: the login asks for one, and nothing has to be found in it."""

    def __getattr__(self, _name):
        return lambda *_args, **_kwargs: None


def without_cache(app):
    def call(env, start_response):
        env['swift.cache'] = NoCache()
        return app(env, start_response)
    return call


class Quiet:
    """Nothing is logged: what fails shows in the answers."""

    def write(self, _text):
        pass


def serve(app):
    listening = eventlet.listen(('127.0.0.1', 0))
    eventlet.spawn(wsgi.server, listening, app, Quiet(), protocol=SwiftHttpProtocol, log_output=False,
                   keepalive=True, capitalize_response_headers=False)
    return listening.getsockname()[1]


def ring_of(name, port):
    """One copy of everything, on the one device there is."""
    device = {'id': 0, 'zone': 0, 'region': 1, 'weight': 1.0, 'device': 'one', 'ip': '127.0.0.1', 'port': port,
              'replication_ip': '127.0.0.1', 'replication_port': port}
    RingData([array.array('H', [0, 0])], [device], 31).save(os.path.join(FOLDER, name + '.ring.gz'))


os.mkdir(os.path.join(FOLDER, 'one'))
ring_of('account', serve(account.app_factory(CONF)))
ring_of('container', serve(container.app_factory(CONF)))
ring_of('object', serve(mem_server.app_factory(CONF)))

app = proxy.app_factory(dict(CONF, __name__='proxy', __file__=FOLDER + '/swift.conf'))
for module, own in [
    (slo, {}),
    (copy, {}),
    (tempauth, {'user_test_tester': 'testing .admin'}),
    # Short pages, so that tests get several of them.
    (s3api, {'location': 'us-east-1', 'allow_multipart_uploads': 'true', 'max_bucket_listing': '5'}),
    (bulk, {}),
    (listing_formats, {}),
    (gatekeeper, {}),
    (catch_errors, {}),
]:
    app = module.filter_factory(dict(CONF), **own)(app)

print(serve(without_cache(app)), flush=True)
hubs.trampoline(sys.stdin.fileno(), read=True)
