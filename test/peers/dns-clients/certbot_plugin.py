"""The client of certbot's plugin, as certbot calls it. Arguments: the token, the domain, an action, a content."""

import sys

from certbot_dns_cloudflare._internal.dns_cloudflare import _CloudflareClient

token, domain, action, content = sys.argv[1:]
client = _CloudflareClient(api_token=token)
name = f"_acme-challenge.{domain}"
if action == "add":
    client.add_txt_record(domain, name, content, 120)
else:
    client.del_txt_record(domain, name, content)
