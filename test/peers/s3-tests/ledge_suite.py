"""A pytest plugin that adapts ceph/s3-tests to a server with one pair of credentials.

The suite empties its buckets between tests with a header of object lock, which the deployed service
and Ledge refuse, as three users, and by the API of IAM. This plugin empties them as one user, without
the header.
"""

import functools

import boto3
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
