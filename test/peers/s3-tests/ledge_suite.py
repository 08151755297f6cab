"""A pytest plugin that adapts ceph/s3-tests to a server with one pair of credentials.

The suite empties its buckets between tests with a header of object lock, which the deployed service
and Ledge refuse, as three users, and by the API of IAM. This plugin empties them as one user, without
the header.
"""

import functools
import json
import os
import re

import botocore.auth
import s3tests.functional as suite


def empty_and_delete(client, bucket):
    for upload in client.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
        client.abort_multipart_upload(
            Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
        )
    while objects := client.list_objects(Bucket=bucket).get("Contents", []):
        keys = [{"Key": listed["Key"]} for listed in objects]
        client.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
    client.delete_bucket(Bucket=bucket)


def remove_buckets():
    suite.nuke_prefixed_buckets(prefix=suite.prefix, client=cleaning_client())


@functools.cache
def cleaning_client():
    return suite.get_client()


suite.nuke_bucket = empty_and_delete
suite.setup = lambda: None
suite.teardown = remove_buckets

# Debian's botocore signs with the AWS CRT where that is installed. The tests alter requests in ways that
# only botocore's own signers accept, which are those of an installation by pip.
botocore.auth.AUTH_TYPE_MAPS.update(
    {
        "v4": botocore.auth.SigV4Auth,
        "v4-query": botocore.auth.SigV4QueryAuth,
        "s3v4": botocore.auth.S3SigV4Auth,
        "s3v4-query": botocore.auth.S3SigV4QueryAuth,
    }
)


def pytest_collection_modifyitems(config, items):
    with open(os.environ["LEDGE_S3_EXPECTATIONS"], encoding="utf-8") as file:
        groups = json.load(file)["leftOut"]
    names = "|".join(
        re.escape(name).replace(r"\*", ".*") for group in groups for name in group.get("tests", [])
    )
    marks = {mark for group in groups for mark in group.get("marks", [])}
    left_out = [
        item
        for item in items
        if re.fullmatch(names, item.originalname)
        or re.fullmatch(names, item.name)
        or not marks.isdisjoint(mark.name for mark in item.iter_markers())
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
